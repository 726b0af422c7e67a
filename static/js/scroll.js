// Where the reader is: follows the end while a reply is written, else keeps the place whatever changes above it.
"use strict";
window.foldline = window.foldline || {};
{
  const NEAR = 48;
  const scroller = document.getElementById("scroll");
  const latest = document.getElementById("latest");
  let [follows, lastTop] = [true, 0];

  const distance = () => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;

  function follow(value) {
    follows = value;
    latest.hidden = follows || distance() < NEAR;
  }

  function toEnd() {
    scroller.scrollTop = scroller.scrollHeight;
    lastTop = scroller.scrollTop;
  }

  function firstVisible() {
    const top = scroller.getBoundingClientRect().top;
    const places = scroller.querySelectorAll("article .prose > *, #crease");
    return [...places].find((place) => place.getBoundingClientRect().bottom > top);
  }

  // Remembers a place; the function it returns brings that place back to where it was on the screen.
  function mark(place = follows ? null : firstVisible()) {
    const before = place?.getBoundingClientRect().top;
    return () => {
      if (follows) toEnd();
      else if (place?.isConnected) scroller.scrollTop += place.getBoundingClientRect().top - before;
      lastTop = scroller.scrollTop;
      latest.hidden = follows || distance() < NEAR;
    };
  }

  function release() {
    if (scroller.scrollTop > 0) follow(false);
  }

  scroller.addEventListener("wheel", (event) => event.deltaY < 0 && release(), { passive: true });
  scroller.addEventListener("touchmove", release, { passive: true });
  scroller.addEventListener("scroll", () => {
    const top = scroller.scrollTop;
    if (distance() <= 2 || (top > lastTop && distance() < NEAR)) follow(true);
    else if (top < lastTop - 1) follow(false);
    latest.hidden = follows || distance() < NEAR;
    lastTop = top;
  }, { passive: true });

  // The page itself never scrolls, so these keys are handed on from wherever the focus is.
  document.addEventListener("keydown", (event) => {
    const box = event.target.closest("textarea, input, select, pre, [contenteditable]");
    const pages = { PageUp: -0.9, PageDown: 0.9 }[event.key];
    if (!pages || event.defaultPrevented || foldline.isComposing(event) || (box && box.scrollHeight > box.clientHeight + 2)) return;
    event.preventDefault();
    if (pages < 0) release();
    scroller.scrollBy({ top: pages * scroller.clientHeight });
  });

  latest.addEventListener("click", () => {
    follow(true);
    toEnd();
  });

  let back = null;
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    back = scroller.contains(event.detail.target) ? mark() : null;
  });
  document.body.addEventListener("htmx:afterSwap", () => back?.());

  const sizes = new ResizeObserver(() => follows && toEnd());
  sizes.observe(scroller);
  sizes.observe(scroller.firstElementChild);
  if (document.querySelector("#archived:not([hidden])")) {
    follow(false);
    document.getElementById("crease").scrollIntoView({ block: "center" });
  }

  foldline.scroll = { mark, release, scroller, stay: () => follow(false) };
}
