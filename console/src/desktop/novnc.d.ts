// The package brings no types.
declare module '@novnc/novnc' {
  interface Credentials {
    username: string;
    password: string;
    target: string;
  }

  interface Events {
    connect: CustomEvent;
    disconnect: CustomEvent<{ clean: boolean }>;
    clipboard: CustomEvent<{ text: string }>;
  }

  export default class RFB {
    constructor(target: HTMLElement, url: string, options?: { credentials?: Credentials });
    scaleViewport: boolean;
    resizeSession: boolean;
    focus(): void;
    clipboardPasteFrom(text: string): void;
    addEventListener<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): void;
  }
}
