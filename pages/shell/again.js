// Asks for a part of the page again and again, while the page is at rest.
const AT_REST = '[data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]';

export default function ({data, setTriggerValue}) {
  const timer = setInterval(() => {
    if (document.querySelector(AT_REST) && !window.dsgLab?.isLeaving?.()) setTriggerValue("again", true);
  }, 1000 * data.seconds);
  return () => clearInterval(timer);
}
