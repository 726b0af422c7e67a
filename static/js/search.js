// The palette (Ctrl+K): jumps to a chat, and presses what the page has buttons and links for.
"use strict";
{
  const palette = document.getElementById("palette");
  const box = document.getElementById("palette-q");
  const [chats, commands, row] = ["palette-chats", "palette-commands", "palette-command"].map((id) => document.getElementById(id));
  const choices = () => [...palette.querySelectorAll("li :is(a, button)")];

  const nameOf = (place) => place.dataset.command || place.placeholder || place.textContent.trim();

  // Those of which a word begins with what is typed; before the chats where a whole name does, else behind them.
  function showCommands() {
    const typed = box.value.trim().toLowerCase();
    const fits = (place) => ` ${nameOf(place).toLowerCase()}`.includes(` ${typed}`);
    const leads = (place) => Boolean(typed) && nameOf(place).toLowerCase().startsWith(typed);
    const found = [...document.querySelectorAll("[data-command]:not(:disabled)")].filter(fits).sort((one, other) => leads(other) - leads(one));
    commands.replaceChildren(...found.map((place) => {
      const copy = row.content.cloneNode(true);
      const button = copy.querySelector("button");
      button.textContent = nameOf(place);
      button.addEventListener("click", () => {
        palette.close();
        if (place.matches("input")) place.focus();
        else place.click();
      });
      return copy;
    }));
    if (found.some(leads)) chats.before(commands);
    else chats.after(commands);
  }

  box.addEventListener("input", showCommands);

  document.addEventListener("foldline:palette", () => {
    if (palette.open) return palette.close();
    if (document.querySelector("dialog[open]")) return;
    box.value = "";
    showCommands();
    palette.showModal();
    htmx.trigger(box, "foldline:open");
  });

  // The arrows go through the field and what is below, Enter in the field takes the first. An input method has its own keys.
  palette.addEventListener("keydown", (event) => {
    if (foldline.isComposing(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const places = [box, ...choices()];
      places[(places.indexOf(document.activeElement) + step + places.length) % places.length].focus();
    } else if (event.key === "Enter" && event.target === box && isShown()) {
      event.preventDefault();
      choices()[0]?.click();
    } else if (event.key.length === 1 && event.target !== box && !event.ctrlKey && !event.metaKey && !event.altKey) {
      box.focus();
    }
  });

  // Whether what is below is of what is in the field; chats may not be yet, and then Enter searches for it.
  const isShown = () => commands.nextElementSibling === chats || chats.dataset.for === box.value;

  document.body.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target === chats) chats.dataset.for = detail.requestConfig.parameters.q;
  });

  palette.addEventListener("click", ({ target }) => target === palette && palette.close());
}
