import { Alert, Button } from 'antd';
import { ApiError } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Remedy } from './Remedy';
import { useDetail } from './told';
import { words } from './words';

type Words = (typeof words)['en'];

/** A short title for an error in the reader's language; the server's own sentence says the rest. */
export function titleOf(error: unknown, say: Words): string {
  if (!(error instanceof ApiError)) return say.failed;
  // A server that is newer than the page may know errors that the page does not.
  return say.errors[error.code] ?? say.failed;
}

/** What went wrong, where it went wrong; with a way to try again, where somebody must ask for it. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const say = useWords(words);
  const requestId = error instanceof ApiError && error.status >= 500 ? error.requestId : '';
  const detail = useDetail()(error);
  return (
    <Alert
      type="error"
      showIcon
      title={titleOf(error, say)}
      action={onRetry && <Button onClick={onRetry}>{say.tryAgain}</Button>}
      description={
        detail || requestId ? (
          <>
            {detail} <Remedies error={error} />
            {requestId && <div className="quiet">{say.request(requestId)}</div>}
          </>
        ) : undefined
      }
    />
  );
}

function Remedies({ error }: { error: unknown }) {
  if (!(error instanceof ApiError)) return null;
  const codes = [error.said.message_code, ...error.problems.map(({ message_code }) => message_code)];
  return [...new Set(codes)].map((code) => <Remedy key={code} code={code} />);
}
