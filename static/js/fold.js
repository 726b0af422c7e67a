// The crease: opens and closes what belongs to it, and fetches the archived messages when they are first asked for.
"use strict";
{
  const { scroller, mark, release, stay } = foldline.scroll;
  const crease = () => document.getElementById("crease");

  function label(button, isOpen) {
    button.setAttribute("aria-expanded", isOpen);
    if (!button.dataset.whenOpen) return;
    button.textContent = isOpen ? button.dataset.whenOpen : button.dataset.whenClosed;
  }

  async function openArchived(panel) {
    release();
    if (!panel.childElementCount) {
      const shown = crease().getBoundingClientRect().top;
      await htmx.ajax("GET", panel.dataset.url, { target: panel, swap: "innerHTML" });
      scroller.scrollTop += crease().getBoundingClientRect().top - shown;
    }
    // Some of what was opened should be seen: the crease comes to rest in the lower half.
    const view = scroller.getBoundingClientRect();
    const room = crease().getBoundingClientRect().top - view.top;
    scroller.scrollTop -= Math.max(0, 0.62 * view.height - room);
  }

  function show(panel) {
    const view = scroller.getBoundingClientRect();
    const hiddenBelow = panel.getBoundingClientRect().bottom - view.bottom + 32;
    const roomAbove = crease().getBoundingClientRect().top - view.top - 32;
    scroller.scrollTop += Math.max(0, Math.min(hiddenBelow, roomAbove));
  }

  // What has been fetched and is folded again is still found by the browser's own search, which then opens it.
  function setHidden(panel, value) {
    panel.hidden = value && panel.id === "archived" && panel.childElementCount ? "until-found" : value;
  }

  function open(panel) {
    panel.hidden = false;
    label(document.querySelector(`[data-toggle=${panel.id}]`), true);
    release();
  }

  // An address that ends in #m-7: opens what the message lies in, or asks for a page that holds it. #summary opens that.
  function goToLinked() {
    const summary = location.hash === "#summary" && document.getElementById("summary");
    if (summary) {
      open(summary);
      summary.scrollIntoView({ block: "center" });
      stay();
    }
    const position = /^#m-(\d+)$/.exec(location.hash)?.[1];
    const asked = new URLSearchParams(location.search);
    if (!position || foldline.showMessage(position) || asked.get("m") === position) return;
    asked.set("m", position);
    location.replace(`?${asked}#m-${position}`);
  }

  // Opens what the message lies in; whether this page holds it at all.
  foldline.showMessage = (position) => {
    const message = document.getElementById(`m-${position}`);
    const panel = message?.closest("#archived");
    if (panel?.hidden) open(panel);
    message?.scrollIntoView({ block: "center" });
    if (message) stay();
    return Boolean(message);
  };

  document.addEventListener("beforematch", ({ target }) => target.id === "archived" && open(target));
  addEventListener("hashchange", goToLinked);
  goToLinked();

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-toggle]");
    if (!button) return;
    event.preventDefault();
    const panel = document.getElementById(button.dataset.toggle);
    const isOpen = Boolean(panel.hidden);
    const back = mark(crease());
    setHidden(panel, !isOpen);
    label(button, isOpen);
    if (isOpen) release();
    back();
    if (isOpen && panel.id === "archived") await openArchived(panel);
    else if (isOpen) show(panel);
  });
}
