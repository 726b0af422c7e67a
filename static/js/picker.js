// The picker says which model the chat has, whatever was chosen there and not carried out.
"use strict";
{
  const root = document.getElementById("live");
  const panel = document.getElementById("changing");
  const select = panel && root.querySelector(".picker select");

  function showModel() {
    if (select?.querySelector(`option[value="${root.dataset.model}"]`)) select.value = root.dataset.model;
  }

  document.addEventListener("foldline:changed", showModel);
  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    const form = detail.elt.closest(".picker, .change");
    if (!form) return;
    showModel();
    // Carried out, or chosen otherwise: what was told before no longer holds.
    if (detail.xhr.status !== 200 || !detail.xhr.getResponseHeader("HX-Retarget")) panel.replaceChildren();
  });
  panel?.addEventListener("click", (event) => {
    if (!event.target.closest("[data-keeps-model]")) return;
    event.preventDefault();
    panel.replaceChildren();
    select.focus();
  });
}
