// What puts text into the box, behind what is typed there already: "Edit" of a message that waits, and an example.
"use strict";
{
  const box = document.getElementById("text");

  function add(text) {
    box.value = [box.value.trimEnd(), text].filter(Boolean).join("\n\n");
    box.dispatchEvent(new Event("input", { bubbles: true }));
    box.focus();
  }

  document.addEventListener("click", (event) => {
    const example = event.target.closest("[data-fills]");
    if (!example || !foldline.isPlain(event)) return;
    event.preventDefault();
    add(example.textContent);
  });

  document.getElementById("queue")?.addEventListener("htmx:beforeRequest", ({ detail: { elt } }) => {
    // Read now, and heard at the button itself: its row may be gone from the page when the answer comes.
    const waiting = elt.closest("li");
    const text = waiting.querySelector("p").textContent;
    const chips = [...waiting.querySelectorAll("[data-files] > li")];
    elt.addEventListener("htmx:afterRequest", ({ detail: { xhr } }) => {
      // Unless it was sent meanwhile; where no answer came it is better twice than lost.
      if (!("takeBack" in elt.dataset) || [404, 409].includes(xhr.status)) return;
      foldline.files.put(chips);
      add(text);
    }, { once: true });
  });
}
