import { useMutation } from '@tanstack/react-query';
import { answer, api } from '@/api/client';
import { useWords } from '@/i18n/language';
import { words } from './words';

interface Wish {
  job: string;
  service: string;
  task?: string | undefined;
  others?: readonly string[];
}

const LOOPBACK = /^(127\.|localhost$|\[::1\])/;

/** Opens services in tabs of their own; what is not installed yet takes a while. */
export function useOpening() {
  const say = useWords(words);
  return useMutation({
    mutationFn: async ({ job, service, task, others = [] }: Wish) => {
      // Opened at once, by the click: later a browser would take it for an advertisement.
      const page = window.open('about:blank', '_blank');
      page?.document.write(`<p style="font: 15px system-ui; padding: 24px">${say.preparing}</p>`);
      try {
        const params = { path: { job_id: job } };
        const body = { service, task, others: [...others] };
        const opened = await answer(api.POST('/api/v1/jobs/{job_id}/services', { params, body }));
        if (page) {
          page.opener = null;
          page.location.href = reachable(opened);
        }
        return opened;
      } catch (error) {
        page?.close();
        throw error;
      }
    },
  });
}

/** The address at a name of its own, if this browser is on the server's machine or that is a real name. */
function reachable({ url, browser_url }: { url: string; browser_url: string }): string {
  if (LOOPBACK.test(location.hostname)) return browser_url;
  const found = new URL(url);
  // The server may know itself by its loopback only.
  if (LOOPBACK.test(found.hostname)) found.hostname = location.hostname;
  return found.href;
}
