// The sheet over the page: opened once its words are there, emptied when it closes.
"use strict";
{
  const sheet = document.getElementById("sheet");

  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.successful && detail.target === sheet && sheet.hasChildNodes() && !sheet.open) sheet.showModal();
    const { closes } = detail.elt.dataset;
    // "done": what was refused is said in the sheet. Else it is said beside the box.
    if (closes === "" || (closes === "done" && detail.xhr.status === 200)) sheet.close();
  });

  sheet?.addEventListener("close", () => sheet.replaceChildren());
  sheet?.addEventListener("click", (event) => event.target === sheet && sheet.close());
}
