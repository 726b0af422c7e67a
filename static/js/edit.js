// The editor in a message's place: keys, what was typed kept until it is taken or left, refusals beside the box.
"use strict";
{
  const place = (form) => `edit:${form.dataset.editor}`;
  const editorOf = (target) => target.closest?.("form[data-editor]");

  function close(form) {
    const article = form.closest("article");
    foldline.store.remove(place(form));
    form.remove();
    article?.querySelector("[data-edit]")?.focus();
  }

  document.body.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
    const form = target.matches(".editing") && target.querySelector("form[data-editor]");
    if (!form) return;
    const box = form.elements.text;
    box.value = foldline.store.get(place(form)) ?? box.value;
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
    form.scrollIntoView({ block: "nearest" });
  });

  document.addEventListener("input", ({ target }) => {
    const form = editorOf(target);
    if (!form) return;
    form.querySelector("[data-refused]").textContent = "";
    foldline.store.set(place(form), target.value);
  });

  document.addEventListener("keydown", (event) => {
    const form = editorOf(event.target);
    if (!form || foldline.isComposing(event)) return;
    if (event.key === "Escape") {
      event.preventDefault(); // the reply goes on being written
      close(form);
    }
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!event.repeat) form.querySelector("[value=answer]").click();
  });

  document.addEventListener("click", (event) => {
    const form = event.target.matches?.("[data-leave]") && editorOf(event.target);
    if (!form) return;
    event.preventDefault();
    close(form);
  });

  document.body.addEventListener("foldline:edited", ({ target }) => editorOf(target) && close(target));

  // A refusal is read where one types, not under the box for the next message.
  document.body.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const form = editorOf(detail.requestConfig.elt);
    if (form && [409, 422].includes(detail.xhr.status)) detail.target = form.querySelector("[data-refused]");
  });
}
