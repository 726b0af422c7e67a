// Passkeys: a form marked data-passkey makes one ("create") or asks for one ("get") before it is sent. Where the browser
// can't (no HTTPS, an address without a name), the form stays hidden and the words for that are shown instead.
"use strict";
{
  const key = window.PublicKeyCredential;
  const isAddress = /^[\d.]+$|^\[/.test(location.hostname);
  const works = Boolean(window.isSecureContext && key?.parseRequestOptionsFromJSON && !isAddress);
  for (const words of document.querySelectorAll("[data-no-passkey]")) words.hidden = works;

  async function optionsOf(form) {
    if (!form.dataset.options) return JSON.parse(document.getElementById("passkey-options").textContent);
    const answer = await fetch(form.dataset.options, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  }

  async function credentialOf(form, options) {
    if (form.dataset.passkey === "get") {
      return navigator.credentials.get({ publicKey: key.parseRequestOptionsFromJSON(options.request_options.publicKey) });
    }
    const wanted = options.creation_options.publicKey;
    wanted.authenticatorSelection = { residentKey: "required", requireResidentKey: true, userVerification: "required" };
    return navigator.credentials.create({ publicKey: key.parseCreationOptionsFromJSON(wanted) });
  }

  async function submit(event) {
    const form = event.currentTarget;
    event.preventDefault();
    const problem = form.querySelector("[data-problem]");
    problem.hidden = true;
    try {
      form.elements.credential.value = JSON.stringify(await credentialOf(form, await optionsOf(form)));
      form.submit();
    } catch {
      problem.hidden = false;
    }
  }

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = !works;
    form.addEventListener("submit", submit);
  }
}
