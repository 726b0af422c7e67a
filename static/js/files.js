// Files: chosen, dropped or pasted, uploaded at once; what stands in the list goes with the message.
"use strict";
{
  const list = document.getElementById("chips");
  const { form } = document.getElementById("text");
  const input = document.getElementById("attach");
  const error = document.getElementById("composer-error");

  const holdsFiles = ({ types }) => types.includes("Files");

  function changed() {
    form.elements.text.dispatchEvent(new Event("input", { bubbles: true }));
    htmx.trigger(form.elements.text, "foldline:meter");
  }

  function refuse(chip, file, words) {
    chip.remove();
    changed();
    error.textContent = `${error.textContent} ${words.replace("{name}", file.name)}`.trim();
  }

  function bodyOf(file) {
    const body = new FormData();
    body.append("upload", file, file.name);
    body.append("chat", form.dataset.draft);
    ["csrfmiddlewaretoken", "model"].forEach((name) => body.append(name, form.elements[name]?.value ?? ""));
    return body;
  }

  // Whether it is taken.
  async function upload(file) {
    const { tooLarge, unreachable, signedOut, uploadUrl, mostBytes } = list.dataset;
    const chip = document.getElementById("uploading").content.firstElementChild.cloneNode(true);
    chip.querySelector("bdi").textContent = file.name;
    list.append(chip);
    try {
      const isTooLarge = file.size > Number(mostBytes);
      const answer = isTooLarge ? { status: 413 } : await fetch(uploadUrl, { method: "POST", body: bodyOf(file) });
      if (answer.redirected) refuse(chip, file, signedOut);
      else if (answer.status === 413) refuse(chip, file, tooLarge);
      else if (answer.status === 422) refuse(chip, file, await answer.text());
      else if (!answer.ok) refuse(chip, file, unreachable);
      else {
        chip.replaceWith(foldline.parse(await answer.text()).querySelector("li"));
        changed();
        return true;
      }
    } catch {
      refuse(chip, file, unreachable);
    }
    return false;
  }

  function take(files) {
    error.textContent = "";
    [...files].forEach(upload);
  }

  input.addEventListener("change", () => {
    take(input.files);
    input.value = ""; // or they would go a second time, with the message
  });

  // A long paste stays in the box until somebody wants it otherwise.
  const LONG = 4000;
  const offer = document.getElementById("paste-offer");
  let pasted = "";

  function paste(words) {
    if (words.length > LONG) pasted = words.replace(/\r\n?/g, "\n");
  }

  form.elements.text.addEventListener("input", ({ target }) => {
    offer.hidden = !pasted || !target.value.includes(pasted);
  });

  offer.querySelector("button").addEventListener("click", async () => {
    const box = form.elements.text;
    box.focus();
    error.textContent = "";
    if (!(await upload(new File([pasted], "pasted.txt", { type: "text/plain" })))) return;
    box.value = box.value.replace(pasted, () => "").trim();
    changed();
  });

  // Words copied from a sheet or a document come with a picture of them; the words are what is meant.
  form.elements.text.addEventListener("paste", (event) => {
    const { files, types } = event.clipboardData;
    paste(event.clipboardData.getData("text/plain"));
    if (!files.length || types.includes("text/plain")) return;
    event.preventDefault();
    take(files);
  });

  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event.dataTransfer)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  ["dragleave", "drop"].forEach((name) => document.addEventListener(name, (event) => {
    if (name === "drop" || !event.relatedTarget) document.body.classList.remove("dropping");
  }));
  document.addEventListener("drop", (event) => {
    if (!holdsFiles(event.dataTransfer)) return;
    event.preventDefault();
    take(event.dataTransfer.files);
  });

  list.addEventListener("click", ({ target }) => {
    const chip = target.closest("[data-remove-chip]")?.closest("li");
    if (!chip) return;
    const next = chip.nextElementSibling || chip.previousElementSibling;
    chip.remove();
    (next?.querySelector("[data-remove-chip]") || form.elements.text).focus();
    changed();
  });

  foldline.files = {
    ids: () => [...list.querySelectorAll("[name=file]")].map((each) => each.value),
    isUploading: () => Boolean(list.querySelector("[data-uploading]")),
    put: (chips) => list.append(...chips),
    remove: (ids) => ids.forEach((id) => list.querySelector(`[value="${id}"]`)?.closest("li").remove()),
  };
}
