import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../api/client'
import { count } from '../format'
import { text } from '../text'
import { Button, Input } from '../ui/controls'
import { Field } from '../ui/form'
import { List, Table } from '../ui/list'
import { Page } from '../ui/page'

const t = text.tenants

export function Tenants() {
  const { prefix, cursor } = useSearch({ from: '/tenants' })
  const navigate = useNavigate()
  const [id, setID] = useState('')
  const list = useQuery({
    queryKey: ['tenants', prefix, cursor],
    queryFn: () => ask(api().GET('/v1/tenants', { params: { query: { prefix, cursor, limit: 100 } } })),
  })
  const open = (e: FormEvent) => {
    e.preventDefault()
    if (id.trim()) void navigate({ to: '/t/$tenant', params: { tenant: id.trim() } })
  }
  return (
    <Page title={t.title} lead={t.lead}>
      <div className="filters">
        <Field name="prefix" label={t.prefix}>
          <Input
            defaultValue={prefix ?? ''}
            onChange={(e) => void navigate({ to: '/tenants', search: { prefix: e.currentTarget.value || undefined }, replace: true })}
          />
        </Field>
        <form className="filters" onSubmit={open}>
          <Field name="tenant" label={t.openTenant}>
            <Input value={id} onChange={(e) => setID(e.currentTarget.value)} />
          </Field>
          <Button type="submit">{t.open}</Button>
        </form>
      </div>
      <List of={list} cursor={cursor} empty={{ title: t.empty, text: t.emptyText }}>
        {(data) => (
          <Table columns={[t.id, { name: t.endpoints, end: true }, t.limits]}>
            {data.map((tenant) => (
              <tr key={tenant.id}>
                <td>
                  <Link className="strong" to="/t/$tenant" params={{ tenant: tenant.id }}>
                    {tenant.id}
                  </Link>
                </td>
                <td className="end" data-label={t.endpoints}>
                  {count(tenant.endpoints)}
                </td>
                <td className="soft" data-label={t.limits}>
                  {Object.entries(tenant.limits)
                    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`)
                    .join(', ') || t.noLimits}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </List>
    </Page>
  )
}
