// Copy: a message's own text or a block of code, on plain http too.
"use strict";
{
  const status = document.getElementById("status");
  const labels = new WeakMap();

  function copyByCommand(text, place) {
    const box = document.createElement("textarea");
    const focused = document.activeElement;
    box.value = text;
    box.className = "visually-hidden";
    place.append(box); // what lies behind an open sheet can't be selected
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    focused?.focus();
    return done;
  }

  async function copy(text, place) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyByCommand(text, place); // no clipboard without https, or not allowed
    }
  }

  function textFor(button) {
    if ("copyCode" in button.dataset) return button.closest(".code").querySelector("code").textContent;
    const source = button.parentElement.querySelector("template[data-source]");
    const place = document.getElementById(button.dataset.copy);
    return source ? source.content.textContent : place.matches("pre") ? place.textContent : place.innerText;
  }

  document.addEventListener("click", async (event) => {
    const link = event.target.closest("[data-copy-link]");
    if (!link || !foldline.isPlain(event)) return;
    event.preventDefault();
    const mark = document.createElement("span");
    mark.className = "mark";
    const done = await copy(link.href, document.body);
    mark.textContent = status.textContent = done ? status.dataset.linkCopied : link.href;
    link.closest(".actions").append(mark);
    setTimeout(() => mark.remove(), done ? 1600 : 15000);
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-code]");
    if (!button) return;
    const done = await copy(textFor(button), button.closest("dialog") || document.body);
    if (!labels.has(button)) labels.set(button, button.textContent);
    button.textContent = status.textContent = done ? status.dataset.copied : status.dataset.cannotCopy;
    setTimeout(() => (button.textContent = labels.get(button)), done ? 1600 : 5000);
  });
}
