import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { sentence } from './formProblems';
import { useTold } from './told';
import { words } from './words';

/** What leads further from a message, by its code: a page for everybody, advice for who keeps the machine. */
export function Remedy({ code }: { code: string | undefined }) {
  const say = useWords(words);
  const { data: me } = useQuery(sessionQuery);
  switch (code) {
    case 'secret_not_usable':
    case 'secret_not_usable_by':
      return (
        <Link to="/secrets" target="_blank">
          {say.toSecrets}
        </Link>
      );
    case 'image_without_engine':
      return me?.is_admin ? <Advice code="get_container_engine" /> : null;
    default:
      return null;
  }
}

function Advice({ code }: { code: string }) {
  const told = useTold();
  return <div className="quiet">{sentence(told({ message: '', message_code: code, params: {} }))}</div>;
}
