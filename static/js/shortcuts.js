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

  document.addEventListener("click", (event) => {
    menus().forEach((menu) => (menu.open = menu.contains(event.target)));
  });

  if (isMac) document.querySelectorAll("kbd").forEach((key) => (key.textContent = key.textContent.replace("Ctrl", "⌘")));
}
