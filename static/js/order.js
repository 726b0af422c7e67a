// The menu of one chat or folder in the list: its words are fetched, it stands beside what opened it.
"use strict";
{
  const menu = document.getElementById("order");
  let opener = null;
  let row = "";

  // The list may be another meanwhile, and the row made anew.
  const openerNow = () => (opener.isConnected ? opener : document.getElementById(row)?.querySelector("[data-order]"));

  function stand() {
    const at = (opener.closest("details.menu")?.querySelector("summary") || opener).getBoundingClientRect();
    const room = { x: innerWidth - menu.offsetWidth - 8, y: innerHeight - menu.offsetHeight - 8 };
    menu.style.left = `${Math.max(8, Math.min(at.left, room.x))}px`;
    menu.style.top = `${Math.max(8, Math.min(at.bottom + 4, room.y))}px`;
  }

  document.addEventListener("click", async (event) => {
    const pressed = event.target.closest("[data-order]");
    if (!pressed || !foldline.isPlain(event)) return;
    event.preventDefault();
    [opener, row] = [pressed, pressed.closest("[id]").id];
    await htmx.ajax("GET", opener.getAttribute("href"), { target: menu, swap: "innerHTML" });
    if (!menu.hasChildNodes()) return;
    htmx.process(menu); // it would come to that a moment later, and a key that was quicker would load the page anew
    menu.showPopover({ source: opener }); // so that the drawer it was opened from stays
    stand();
    menu.querySelector("button, a, input:not([type=hidden])").focus();
  });

  // What is no link of its own reads as a button, and a button hears the space bar, too.
  document.addEventListener("keydown", (event) => {
    if (event.key !== " " || !event.target.matches?.("a[role=button]")) return;
    event.preventDefault();
    event.target.click();
  });

  menu.addEventListener("toggle", ({ newState }) => {
    const isOpen = newState === "open";
    if (opener?.matches("[role=button]")) opener.ariaExpanded = isOpen;
    if (isOpen) return;
    menu.replaceChildren();
    if (document.activeElement === document.body) openerNow()?.focus();
  });

  // Whatever came of it: a refusal is read under the box.
  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (menu.contains(detail.elt) && detail.requestConfig.verb === "post") {
      menu.hidePopover();
      openerNow()?.focus();
    }
  });
}
