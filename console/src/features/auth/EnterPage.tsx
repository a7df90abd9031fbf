import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useLocation, useRouter } from '@tanstack/react-router';
import { Alert, Button } from 'antd';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { useTabTitle } from '@/ui/Page';
import styles from './auth.module.css';
import { SignInBox } from './SignInBox';
import { followLink } from './signIn';
import { words } from './words';

const route = getRouteApi('/enter');

/** What a sign-in link leads to when it does not simply sign somebody in. */
export function EnterPage() {
  const { user, failure } = route.useRouteContext();
  return user ? <AlreadySignedIn name={user.name} /> : <EnterFailure error={failure} />;
}

/** Asks somebody who is signed in whether to follow the link. */
function AlreadySignedIn({ name }: { name: string }) {
  const say = useWords(words);
  const client = useQueryClient();
  const router = useRouter();
  const { next } = route.useSearch();
  const code = useLocation({ select: (location) => location.hash });
  useTabTitle(say.title);
  const goOn = () => router.navigate({ href: next ?? '/', replace: true });
  const following = useMutation({ mutationFn: () => followLink(client, code), onSuccess: goOn });
  return (
    <SignInBox>
      <Alert className={styles.failure} type="info" showIcon title={say.already(name)} />
      {following.error && (
        <div className={styles.failure}>
          <Failure error={following.error} />
        </div>
      )}
      <div className={styles.choices}>
        <Button type="primary" block size="large" onClick={goOn}>
          {say.goOn(name)}
        </Button>
        <Button block size="large" loading={following.isPending} onClick={() => following.mutate()}>
          {say.follow}
        </Button>
      </div>
    </SignInBox>
  );
}

/** Says why the link did not work, and leads to the other way in. */
function EnterFailure({ error }: { error: unknown }) {
  const say = useWords(words);
  const router = useRouter();
  useTabTitle(say.title);
  return (
    <SignInBox>
      <div className={styles.failure}>
        <Failure error={error} />
      </div>
      <Button type="primary" block size="large" onClick={() => router.navigate({ href: '/sign-in' })}>
        {say.withPassword}
      </Button>
    </SignInBox>
  );
}
