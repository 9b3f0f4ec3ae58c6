const kind = document.getElementById("kind");

/** Show the samples of the chosen kind; at first those that change. */
function filter() {
  for (const sample of document.querySelectorAll(".sample")) {
    const changed = !sample.classList.contains("unchanged");
    sample.hidden = kind.value === "changed" ? !changed : kind.value !== "all" && !sample.classList.contains(kind.value);
  }
}

kind.addEventListener("change", filter);
filter();
