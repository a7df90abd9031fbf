import { QueryClient } from '@tanstack/react-query';
import { ApiError } from '@/api/client';

const MOST_TRIES = 3;

/** Refusals stay refusals; a server that cannot be reached may come back. */
function isWorthAnotherTry(nFailures: number, error: Error): boolean {
  const isRefusal = error instanceof ApiError && error.status >= 400 && error.status < 500;
  return !isRefusal && nFailures < MOST_TRIES;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: isWorthAnotherTry, staleTime: 2000, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});
