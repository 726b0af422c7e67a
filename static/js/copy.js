// Copy: a message's own text or a block of code, on plain http too.
"use strict";
{
  function copyByCommand(text) {
    const box = document.createElement("textarea");
    const focused = document.activeElement;
    box.value = text;
    box.className = "visually-hidden";
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    focused?.focus();
    return done;
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyByCommand(text); // no clipboard without https, or not allowed
    }
  }

  function textFor(button) {
    if ("copyCode" in button.dataset) return button.closest(".code").querySelector("code").textContent;
    const source = button.parentElement.querySelector("template[data-source]");
    return source ? source.content.textContent : document.getElementById(button.dataset.copy).innerText;
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-code]");
    if (!button) return;
    const done = await copy(textFor(button));
    const words = done ? "Copied" : "Can’t copy here: select the text and press Ctrl+C";
    button.textContent = document.getElementById("status").textContent = words;
    setTimeout(() => (button.textContent = "Copy"), done ? 1600 : 5000);
  });
}
