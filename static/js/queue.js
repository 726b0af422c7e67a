// Messages that wait: "Edit" puts the text back into the box, behind what is typed there already.
"use strict";
{
  const box = document.getElementById("text");

  document.getElementById("queue")?.addEventListener("htmx:beforeRequest", ({ detail: { elt } }) => {
    // Read now, and heard at the button itself: its row may be gone from the page when the answer comes.
    const text = elt.closest("li").querySelector("p").textContent;
    elt.addEventListener("htmx:afterRequest", ({ detail: { xhr } }) => {
      // Unless it was sent meanwhile; where no answer came it is better twice than lost.
      if ("takeBack" in elt.dataset && ![404, 409].includes(xhr.status)) {
        box.value = [box.value.trimEnd(), text].filter(Boolean).join("\n\n");
        box.dispatchEvent(new Event("input", { bubbles: true }));
        box.focus();
      }
      if (document.activeElement === document.body) box.focus(); // what had the focus is gone
    }, { once: true });
  });
}
