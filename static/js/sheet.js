// The sheet over the page: opened once its words are there, emptied when it closes.
"use strict";
{
  const sheet = document.getElementById("sheet");

  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.successful && detail.target === sheet && sheet.hasChildNodes() && !sheet.open) sheet.showModal();
    if ("closes" in detail.elt.dataset) sheet.close(); // what was refused is said beside the box
  });

  sheet?.addEventListener("close", () => sheet.replaceChildren());
  sheet?.addEventListener("click", (event) => event.target === sheet && sheet.close());
}
