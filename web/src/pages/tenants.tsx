import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../api/client'
import { count } from '../format'
import { text } from '../text'
import { Button, Field, Input } from '../ui/controls'
import { Card, Page } from '../ui/page'
import { Pager } from '../ui/pager'
import { Data, Empty } from '../ui/states'

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
      <Card foot={list.data && <Pager cursor={cursor} next={list.data.next_cursor} />}>
        <Data of={list}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={t.empty}>
                <p>{t.emptyText}</p>
              </Empty>
            ) : (
              <table className="cards">
                <thead>
                  <tr>
                    <th>{t.id}</th>
                    <th className="end">{t.endpoints}</th>
                    <th>{t.limits}</th>
                  </tr>
                </thead>
                <tbody>
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
                </tbody>
              </table>
            )
          }
        </Data>
      </Card>
    </Page>
  )
}
