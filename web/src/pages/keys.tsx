import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { date } from '../format'
import { session } from '../session'
import { text } from '../text'
import { List, Table } from '../ui/list'
import { Badge, Page } from '../ui/page'
import { Button, CheckBox, Id, Input } from '../ui/controls'
import { Confirm, Dialog } from '../ui/dialog'
import { Field, Form, useRefusal, type Values } from '../ui/form'
import { SecretDialog } from '../ui/secret'
import { Time } from '../ui/time'
import { tell } from '../ui/toast'

const t = text.keys
type Scope = Schemas['Key']['scopes'][number]
const scopes: Scope[] = ['read', 'events:write', 'endpoints:write', 'transformations', 'private', 'replay', 'audit', 'portal:write', 'tenants:read', 'admin']

export function Keys() {
  const { cursor } = useSearch({ from: '/keys' })
  const cache = useQueryClient()
  const [creating, setCreating] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const list = useQuery({ queryKey: ['keys', cursor], queryFn: () => ask(api().GET('/v1/keys', { params: { query: { cursor } } })) })
  const made = (key: string) => {
    setCreating(false)
    setSecret(key)
    void cache.invalidateQueries({ queryKey: ['keys'] })
  }
  return (
    <Page
      title={t.title}
      lead={session()?.person ? t.leadPerson : t.lead}
      actions={
        !session()?.person && (
          <Button look="primary" onClick={() => setCreating(true)}>
            {t.create}
          </Button>
        )
      }
    >
      <Dialog title={t.create} open={creating} onOpenChange={setCreating}>
        <NewKey close={() => setCreating(false)} made={made} />
      </Dialog>
      <SecretDialog title={t.secretTitle} note={t.secretText} secret={secret} done={() => setSecret(null)} />
      <List of={list} cursor={cursor} empty={{ title: t.empty }}>
        {(data) => (
          <Table columns={[t.name, t.tenant, t.scopes, t.used, t.expires, { name: <span className="hidden">{text.actions}</span>, look: 'end' }]}>
            {data.map((k) => (
              <KeyRow key={k.id} of={k} />
            ))}
          </Table>
        )}
      </List>
    </Page>
  )
}

function KeyRow({ of: k }: { of: Schemas['Key'] }) {
  const cache = useQueryClient()
  return (
    <tr>
      <td>
        <div className="clip">{k.name}</div>
        <span className="soft small">
          <Id value={k.id} />
        </span>
      </td>
      <td data-label={t.tenant}>{k.tenant === '*' ? <Badge tone="calm">{t.all}</Badge> : k.tenant}</td>
      <td data-label={t.scopes}>
        <code>{k.scopes.join(' ')}</code>
      </td>
      <td data-label={t.used}>{k.last_used_on ? date(k.last_used_on) : t.never}</td>
      <td data-label={t.expires}>{k.expires_at ? <Time at={k.expires_at} /> : t.never}</td>
      <td className="end">
        <Confirm
          trigger={
            <Button tiny look="danger">
              {t.revoke}
            </Button>
          }
          title={t.revokeTitle}
          action={t.revoke}
          danger
          run={async () => {
            await ask(api().DELETE('/v1/keys/{key}', { params: { path: { key: k.id } } }))
            tell(t.revoked)
            await cache.invalidateQueries({ queryKey: ['keys'] })
          }}
        >
          <strong>{k.name}</strong>. {t.revokeText}
        </Confirm>
      </td>
    </tr>
  )
}

function NewKey({ close, made }: { close: () => void; made: (key: string) => void }) {
  const submit = async (values: Values) => {
    const days = Number(values.expires_at)
    const key = await ask(
      api().POST('/v1/keys', {
        body: {
          name: values.name ?? '',
          tenant: (values.tenant ?? '').trim(),
          scopes: (values.scopes ?? '').split(' ').filter(Boolean) as Scope[],
          ...(days > 0 ? { expires_at: new Date(Date.now() + days * 86_400_000).toISOString() } : {}),
        },
      }),
    )
    made(key.key)
  }
  return (
    <Form submit={submit} label={t.submit} cancel={close}>
      <Field name="name" label={t.name}>
        <Input />
      </Field>
      <Field name="tenant" label={t.tenant} help={t.tenantHelp}>
        <Input />
      </Field>
      <Scopes />
      <Field name="expires_at" label={t.days} help={t.daysHelp}>
        <Input inputMode="numeric" />
      </Field>
    </Form>
  )
}

function Scopes() {
  const [chosen, setChosen] = useState<Scope[]>(['read'])
  const wrong = useRefusal('scopes')
  return (
    <fieldset className="field plain">
      <legend>{t.scopes}</legend>
      <input type="hidden" name="scopes" value={chosen.join(' ')} />
      {scopes.map((s) => (
        <CheckBox key={s} checked={chosen.includes(s)} onChange={(on) => setChosen(on ? [...chosen, s] : chosen.filter((c) => c !== s))}>
          <code>{s}</code>
        </CheckBox>
      ))}
      {wrong && <span className="wrong">{wrong}</span>}
    </fieldset>
  )
}
