// Opened from a file, a page may not start workers, and the search is one. Here, and
// only here, a hidden frame takes the place of the worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.addEventListener("load", () => this.begin(new URL(url, location)));
      document.body.append(this.frame);
    }

    begin(url) {
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.hear(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => Promise.all(urls.map((it) => this.load(it)));
      this.load(url).then(() => this.waiting.splice(0).forEach((it) => this.tell(it)));
    }

    load(url) {
      const script = this.frame.contentDocument.createElement("script");
      script.src = url;
      return new Promise((resolve, reject) => {
        script.onload = () => resolve((this.ready = true));
        script.onerror = reject;
        this.frame.contentDocument.head.append(script);
      });
    }

    hear(event) {
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }

    postMessage(data) {
      if (this.ready) this.tell(data);
      else this.waiting.push(data);
    }

    tell(data) {
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
