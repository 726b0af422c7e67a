// Keys, and menus that close again.
"use strict";
{
  const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);
  const menus = () => document.querySelectorAll("details.menu[open]");

  document.addEventListener("keydown", (event) => {
    if ((isMac ? event.metaKey : event.ctrlKey) && event.key === "j") {
      event.preventDefault();
      document.querySelector("[data-new-chat]").click();
    }
    if (event.key !== "Escape") return;
    menus().forEach((menu) => {
      menu.open = false;
      menu.querySelector("summary").focus();
    });
    if (location.hash === "#sidebar") location.hash = "live";
  });

  // A press of something in a menu closes it; what one types into a menu keeps it open until it is accepted.
  document.addEventListener("click", ({ target }) => {
    const isDone = target.closest(".menu-body :is(a, button)") && !target.closest("form.menu-body");
    menus().forEach((menu) => (menu.open = menu.contains(target) && !isDone));
  });

  document.body.addEventListener("htmx:afterRequest", ({ detail: { elt, successful } }) => {
    if (!successful || !elt.matches("form.menu-body")) return;
    elt.reset();
    elt.closest("details").open = false;
  });

  if (isMac) document.querySelectorAll("kbd").forEach((key) => (key.textContent = key.textContent.replace("Ctrl", "⌘")));
}
