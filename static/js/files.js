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

  async function upload(file) {
    const { tooLarge, unreachable, signedOut, uploadUrl, mostBytes } = list.dataset;
    const chip = document.getElementById("uploading").content.firstElementChild.cloneNode(true);
    chip.querySelector("bdi").textContent = file.name;
    list.append(chip);
    if (file.size > Number(mostBytes)) return refuse(chip, file, tooLarge);
    try {
      const answer = await fetch(uploadUrl, { method: "POST", body: bodyOf(file) });
      if (answer.redirected) refuse(chip, file, signedOut);
      else if (answer.status === 413) refuse(chip, file, tooLarge);
      else if (answer.status === 422) refuse(chip, file, await answer.text());
      else if (!answer.ok) refuse(chip, file, unreachable);
      else {
        chip.replaceWith(foldline.parse(await answer.text()).querySelector("li"));
        changed();
      }
    } catch {
      refuse(chip, file, unreachable);
    }
  }

  function take(files) {
    error.textContent = "";
    [...files].forEach(upload);
  }

  input.addEventListener("change", () => {
    take(input.files);
    input.value = ""; // or they would go a second time, with the message
  });

  // Words copied from a sheet or a document come with a picture of them; the words are what is meant.
  form.elements.text.addEventListener("paste", (event) => {
    const { files, types } = event.clipboardData;
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
