import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { onOtherSession } from '@/api/client';
import { sessionQuery } from '@/api/queries';
import { queryClient } from '@/app/queryClient';
import { followRenewal } from '@/app/renewed';
import { router } from '@/app/router';
import { LanguageProvider } from '@/i18n/language';
import { ThemeProvider } from '@/theme/theme';
import '@/theme/theme.css';

const root = document.getElementById('root');
if (!root) throw new Error('the page has no place for the console');

// What is on the page was read as somebody else.
onOtherSession(() => location.reload());
followRenewal();

// On their way while the page is set up: who is signed in, and the code of the page that is asked for.
void queryClient.prefetchQuery(sessionQuery);
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  const { component } = router.routesById[routeId as keyof typeof router.routesById].options;
  if (component && 'preload' in component) void component.preload?.();
}

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <LanguageProvider>
        <ThemeProvider>
          <RouterProvider router={router} />
        </ThemeProvider>
      </LanguageProvider>
    </QueryClientProvider>
  </StrictMode>,
);
