// Runs before the page is painted, so that nobody sees it in the wrong colours.
(function () {
  try {
    var theme = localStorage.getItem("kinwire-theme");
    if (theme) document.documentElement.dataset.theme = theme;
  } catch (_) { /* a browser may refuse storage; then the system decides */ }
  document.documentElement.classList.add("js");
})();
