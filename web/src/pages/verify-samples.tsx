import { Tabs } from '@base-ui/react/tabs'
import go from '../../../examples/verify/verify.go?raw'
import node from '../../../examples/verify/verify.mjs?raw'
import php from '../../../examples/verify/verify.php?raw'
import python from '../../../examples/verify/verify.py?raw'
import ruby from '../../../examples/verify/verify.ru?raw'
import java from '../../../examples/verify/Verify.java?raw'
import type { Endpoint } from '../api/reads'
import { text } from '../text'
import { CopyButton } from '../ui/controls'
import { Time } from '../ui/time'

const t = text.verify

const samples: [string, string][] = [
  ['Go', go.replace(/^\/\/go:build .*\n\n/, '')],
  ['TypeScript', node],
  ['Python', python],
  ['Java', java],
  ['Ruby', ruby],
  ['PHP', php],
]

/** The variable of the receiver's environment that holds the secret of the endpoint, such as CRM_WEBHOOK_SECRET. */
export const secretName = (e: Pick<Endpoint, 'uid'>) => `${e.uid ? `${e.uid.toUpperCase().replace(/[^A-Z0-9]/g, '_').replace(/^(\d)/, '_$1')}_` : ''}WEBHOOK_SECRET`

/** How the receiver of the endpoint verifies signatures, in six languages. */
export default function VerifySamples({ of: e }: { of: Endpoint & { old_secrets_until?: string; signed_by?: string } }) {
  const old = e.old_secrets_until && (
    <p className="soft">
      {e.signed_by === 'old' ? t.oldSecretAlone : t.oldSecrets} <Time at={e.old_secrets_until} />.
    </p>
  )
  if (e.destination && e.destination.type !== 'http') return <p className="soft">{t.destination}</p>
  if (!e.signature_profiles.includes('standard'))
    return (
      <>
        <p className="soft">{t.other(e.signature_profiles.map((name) => text.form.profiles[name] ?? name).join(', '))}</p>
        {old}
      </>
    )
  const name = secretName(e)
  return (
    <div className="stack tight">
      <p className="soft">
        {t.lead} <code>{name}</code>.
      </p>
      {old}
      <Tabs.Root defaultValue={samples[0]![0]} className="samples">
        <Tabs.List className="tabs-list" aria-label={t.languages}>
          {samples.map(([language]) => (
            <Tabs.Tab key={language} value={language} className="tab">
              {language}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {samples.map(([language, sample]) => {
          const code = sample.replaceAll('WEBHOOK_SECRET', name)
          return (
            <Tabs.Panel key={language} value={language} className="sample id">
              <pre className="code" tabIndex={0} aria-label={language}>
                {code}
              </pre>
              <CopyButton value={code} label={language} />
            </Tabs.Panel>
          )
        })}
      </Tabs.Root>
    </div>
  )
}
