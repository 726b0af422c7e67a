// Whether long lines of code wrap, in all boxes at once; kept in this browser.
"use strict";
{
  const PLACE = "foldline:wrap";
  const root = document.documentElement;

  function tell() {
    const wraps = "wrap" in root.dataset;
    document.querySelectorAll("[data-wrap-code]").forEach((button) => (button.ariaPressed = wraps));
  }

  function keep() {
    try {
      if ("wrap" in root.dataset) localStorage.setItem(PLACE, "1");
      else localStorage.removeItem(PLACE);
    } catch {
      // Storage may be full or forbidden; it holds for this page.
    }
  }

  try {
    root.toggleAttribute("data-wrap", localStorage.getItem(PLACE) !== null);
  } catch {
    // As above.
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-wrap-code]");
    if (!button) return;
    foldline.scroll.stay();
    const back = foldline.scroll.mark(button);
    root.toggleAttribute("data-wrap");
    back();
    keep();
    tell();
  });

  document.addEventListener("foldline:changed", tell);
  document.addEventListener("htmx:afterSwap", tell);
  tell();
}
