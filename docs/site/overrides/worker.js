// A page from disk may start no worker. There the search runs in a hidden frame, which has what its script asks for: messages
// both ways, and scripts in the order of their import.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise(done => {
        frame.onload = () => {
          const inside = frame.contentWindow;
          const load = path => new Promise(loaded => {
            const script = inside.document.createElement("script");
            script.src = path;
            script.onload = loaded;
            inside.document.body.append(script);
          });
          inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
          inside.importScripts = (...paths) => paths.reduce((before, path) => before.then(() => load(path)), Promise.resolve());
          load(url).then(() => done(inside));
        };
      });
      document.body.append(frame);
    }
    postMessage(data) {
      this.ready.then(inside => inside.dispatchEvent(new inside.MessageEvent("message", {data})));
    }
    terminate() {}
  };
}
