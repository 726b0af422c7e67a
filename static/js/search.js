// Finding: the palette (Ctrl+K), what stands in the list of chats while one types, and the words in what a hit opened.
"use strict";
{
  const palette = document.getElementById("palette");
  const box = document.getElementById("palette-q");
  const links = () => [...palette.querySelectorAll("a")];

  document.addEventListener("foldline:palette", () => {
    if (palette.open) return palette.close();
    if (document.querySelector("dialog[open]")) return;
    box.value = "";
    palette.showModal();
    htmx.trigger(box, "foldline:open");
  });

  // The arrows go through field and links, Enter in the field takes the first link. Keys of an input method are its own.
  palette.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const places = [box, ...links()];
      places[(places.indexOf(document.activeElement) + step + places.length) % places.length].focus();
    } else if (event.key === "Enter" && event.target === box && isShown()) {
      event.preventDefault();
      links()[0]?.click();
    } else if (event.key.length === 1 && event.target !== box && !event.ctrlKey && !event.metaKey && !event.altKey) {
      box.focus();
    }
  });

  // Whether the links are those of what is in the field; if not yet, Enter searches for it.
  const isShown = () => document.getElementById("palette-chats").dataset.for === box.value;

  document.body.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target.id === "palette-chats") detail.target.dataset.for = detail.requestConfig.parameters.q;
  });

  palette.addEventListener("click", ({ target }) => target === palette && palette.close());

  // The words that led here are marked in the message.
  const words = (new URLSearchParams(location.search).get("find") || "").match(/[^\s"]+/g) || [];
  const message = words.length && document.getElementById(location.hash.slice(1));
  if (message && CSS.highlights) {
    const wanted = new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "giu");
    const texts = document.createTreeWalker(message, NodeFilter.SHOW_TEXT);
    const ranges = [];
    while (texts.nextNode()) {
      for (const { index, 0: found } of texts.currentNode.data.matchAll(wanted)) {
        const range = new Range();
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + found.length);
        ranges.push(range);
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  }
}
