import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { api, ask, type Schemas } from '../api/client'
import { isPortal, may, session } from '../session'
import { text } from '../text'
import { Filters, SelectFilter, TextFilter } from '../ui/filters'
import { List, Table } from '../ui/list'
import { Badge, Page, type Tone } from '../ui/page'
import { Time } from '../ui/time'

const t = text.types

/** Event types belong to all tenants, so only a key for all tenants changes them. */
export const mayChangeTypes = () => !isPortal && !session()?.tenant && may('admin')

const tones: Record<string, Tone> = { reject: 'bad', warn: 'warn', off: 'calm' }

export function Validation({ of }: { of: Schemas['EventType'] }) {
  return (
    <span className="row">
      <Badge tone={tones[of.validation ?? ''] ?? 'calm'}>{t.validations[of.validation ?? ''] ?? t.byEnvironment}</Badge>
      {of.archived && <Badge tone="wait">{t.archived}</Badge>}
    </span>
  )
}

export function EventTypes() {
  const { group, archived, cursor } = useSearch({ from: '/event-types' })
  const list = useQuery({
    queryKey: ['event-types', group, archived, cursor],
    queryFn: () => ask(api().GET('/v1/event-types', { params: { query: { group, archived: archived === 'true', cursor } } })),
  })
  const create = mayChangeTypes() && (
    <Link className="button primary" to="/new-event-type">
      <Plus size={14} /> {t.create}
    </Link>
  )
  return (
    <Page title={t.title} lead={t.lead} actions={create}>
      <Filters names={['group', 'archived']} search={{ group, archived }} error={list.error}>
        <TextFilter name="group" label={t.group} value={group} />
        {!isPortal && <SelectFilter name="archived" label={t.shown} value={archived} none={t.inUse} options={[{ value: 'true', label: t.archived }]} />}
      </Filters>
      <List of={list} cursor={cursor} empty={{ title: t.empty, text: t.emptyText, action: create }}>
        {(data) => (
          <Table columns={[t.name, t.group, t.description, ...(isPortal ? [] : [t.validation, t.changed])]}>
            {data.map((e) => (
              <tr key={e.event_type}>
                <td>
                  <Link className="strong" to="/event-types/$type" params={{ type: e.event_type }}>
                    {e.event_type}
                  </Link>
                </td>
                <td className={e.group ? '' : 'blank'} data-label={t.group}>
                  {e.group || <span className="soft">–</span>}
                </td>
                <td className={e.description ? '' : 'blank'} data-label={t.description}>
                  <div className="clip soft" title={e.description}>
                    {e.description || '–'}
                  </div>
                </td>
                {!isPortal && (
                  <>
                    <td data-label={t.validation}>
                      <Validation of={e} />
                    </td>
                    <td data-label={t.changed}>
                      <Time at={e.updated_at} />
                    </td>
                  </>
                )}
              </tr>
            ))}
          </Table>
        )}
      </List>
    </Page>
  )
}
