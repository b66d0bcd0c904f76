/** What git would connect to, read from its configuration. */
export class Git {
  readonly homeDir: string;
  constructor(homeDir: string) {
    this.homeDir = homeDir;
  }
  remoteUrls(_repository: string, _remote: string): string[] {
    return [];
  }
  defaultRemoteUrls(_repository: string): string[] {
    return [];
  }
  urls(_repository: string, url: string): string[] {
    return [url];
  }
}
