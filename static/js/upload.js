// A file to be imported is sent in parts, so that it may be large, and goes on where the connection broke off.
"use strict";

const PART = 2 * 1024 * 1024;
const TRIES = 5;

const form = document.getElementById("upload");
const problem = document.getElementById("import-problem");
const bar = document.getElementById("upload-bar");
const progress = document.getElementById("upload-progress");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const file = form.elements.file.files[0];
  const button = form.querySelector("button");
  button.disabled = true;
  problem.hidden = true;
  try {
    const announced = await post(form.action, new URLSearchParams({ name: file.name, size: file.size }));
    if (!announced.ok) throw new Error(await announced.text());
    const { part, page } = await announced.json();
    bar.hidden = false;
    await sendParts(file, part);
    location.assign(page);
  } catch (error) {
    problem.textContent = error instanceof TypeError || !error.message ? form.dataset.broken : error.message;
    problem.hidden = false;
    bar.hidden = true;
    button.disabled = false;
  }
});

async function sendParts(file, address) {
  let at = 0;
  let left = TRIES;
  while (at < file.size) {
    try {
      const answer = await post(`${address}?at=${at}`, file.slice(at, at + PART));
      if (!answer.ok && answer.status !== 409) throw new TypeError();
      const arrived = Number(await answer.text());
      if (arrived === at && --left === 0) throw new Error();
      if (arrived > at) left = TRIES;
      at = arrived;
      progress.value = at / file.size;
    } catch (error) {
      if (--left <= 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

function post(address, body) {
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
  return fetch(address, { method: "POST", headers, body });
}
