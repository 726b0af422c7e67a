// A very long message shows its beginning until it is asked for in full; never the last one, nor one being written.
"use strict";
{
  // About sixty lines, in pixels.
  const LIMIT = 1650;
  const ended = new Set();

  function label(message) {
    const isOpen = message.dataset.long === "open";
    const button = message.querySelector(":scope > .show-all");
    button.ariaExpanded = isOpen;
    button.textContent = isOpen ? button.dataset.whenOpen : button.dataset.whenClosed;
  }

  function change(message, state) {
    message.dataset.long = state;
    label(message);
  }

  // What the reader has had before the eyes as the last message stays whole until the page is opened again.
  function foldLong() {
    const last = document.querySelector("#log > .message:last-child");
    if (last) ended.add(last.dataset.message);
    for (const button of document.querySelectorAll(".message > .show-all")) {
      const message = button.parentElement;
      if (message.dataset.long) label(message);
      else if (!ended.has(message.dataset.message)) {
        const prose = document.getElementById(button.getAttribute("aria-controls"));
        if (prose.scrollHeight > LIMIT) change(message, "folded");
      }
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-show-all]");
    if (!button) return;
    const message = button.parentElement;
    const isOpen = message.dataset.long === "open";
    foldline.scroll.stay();
    const back = foldline.scroll.mark(isOpen ? button : message);
    change(message, isOpen ? "folded" : "open");
    back();
  });

  // The browser's search, or a key that moves the focus, has gone to what isn't shown.
  document.addEventListener("scroll", ({ target }) => {
    const message = target.parentElement?.closest?.("[data-long=folded]");
    const hidden = target.scrollTop;
    if (!message || !hidden) return;
    foldline.scroll.stay();
    change(message, "open");
    foldline.scroll.scroller.scrollTop += hidden;
  }, true);

  document.addEventListener("foldline:changed", foldLong);
  document.addEventListener("htmx:afterSwap", foldLong, true);
  foldLong();
}
