package main

import (
	"net/http"

	"github.com/spf13/cobra"
)

const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	patch  = http.MethodPatch
	remove = http.MethodDelete
)

const (
	eventsPath     = "/v1/tenants/{tenant}/events"
	endpointsPath  = "/v1/tenants/{tenant}/endpoints"
	deliveriesPath = "/v1/tenants/{tenant}/deliveries"
	replaysPath    = "/v1/tenants/{tenant}/replays"
	limitsPath     = "/v1/tenants/{tenant}/limits"
	deadPath       = "/v1/tenants/{tenant}/dead-letters"
)

// mostEndpoints is the largest number of endpoints of a tenant.
const mostEndpoints = 500

func deliveryColumns() []column {
	return columns("DELIVERY=id", "EVENT TYPE=?~event_type", "ENDPOINT=?endpoint_id", "STATE=state", "REASON=?reason",
		"ORDERING KEY=?~ordering.key", "NUMBER=?ordering.number", "BEHIND=?ordering.behind",
		"ATTEMPTS=?attempts", "LAST=?last.class", "STATUS=last.status", "NEXT=?next_attempt_at|next_probe_at", "UPDATED=updated_at")
}

// commandGroup is the commands about one kind of resource, with one call each.
type commandGroup struct {
	use, short string
	operations []operation
}

// resources returns the commands of the groups.
func (p *program) resources() []*cobra.Command {
	var all []*cobra.Command
	for _, g := range p.groups() {
		all = append(all, p.group(g.use, g.short, g.operations))
	}
	return all
}

func (p *program) groups() []commandGroup {
	return []commandGroup{
		{"events", "Events, and how their deliveries stand", p.eventOperations()},
		{"deliveries", "Deliveries: one event for one endpoint", p.deliveryOperations()},
		{"endpoints", "Endpoints: URLs with their event types, secrets and limits", p.endpointOperations()},
		{"event-types", "Event types: the catalog of the environment", p.eventTypeOperations()},
		{"tenants", "Tenants and their limits", p.tenantOperations()},
		{"rejects", "Wrong messages of the events queue, with a key for all tenants", p.rejectOperations()},
		{"keys", "API keys, with a key for all tenants", p.keyOperations()},
		{"audit", "Changes: who, what, when and from where", p.auditOperations()},
		{"replays", "Replay jobs", p.replayOperations()},
	}
}

func (p *program) group(use, short string, operations []operation) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Args: arguments, RunE: func(c *cobra.Command, _ []string) error {
		return usagef("say what to do with %s: surehook %s --help lists the commands", c.Name(), c.Name())
	}}
	for _, o := range operations {
		g.AddCommand(p.command(o))
	}
	return g
}

func (p *program) eventOperations() []operation {
	return []operation{
		{
			use: "list", short: "List the events of the tenant, newest first", method: get, path: eventsPath,
			query: filters("event_type", "idempotency_key", "since", "until"),
			list:  columns("EVENT=id", "EVENT TYPE=event_type", "KEY=~idempotency_key", "ENDPOINTS=endpoints", "ACCEPTED=accepted_at"),
		},
		{use: "get EVENT", short: "Show an event with its payload", method: get, path: eventsPath + "/{event}", view: viewEvent},
		{use: "deliveries EVENT", short: "List the deliveries of an event", method: get, path: eventsPath + "/{event}/deliveries", list: deliveryColumns()},
		{
			use: "attempts EVENT", short: "List the attempts of an event", method: get, path: eventsPath + "/{event}/attempts",
			list: columns("STARTED=started_at", "ENDPOINT=endpoint_id", "ATTEMPT=number", "TRIGGER=trigger", "CLASS=class", "STATUS=status", "DURATION=duration", "ERROR=~error"),
		},
		{
			use: "replay EVENT", short: "Send an event again to its endpoints, or to one more endpoint", method: post, path: eventsPath + "/{event}/replay",
			query: []option{{name: "endpoint", usage: "only this endpoint, also one that was created later"}},
			body:  []option{{name: "force", usage: "also deliveries in progress, which are then cancelled", kind: yes}},
		},
		{
			use: "erase EVENT", short: "Erase the payload of an event and all response bodies", method: remove, path: eventsPath + "/{event}/payload", done: "erased the payload of",
			ask: "Erase the payload of the event %s and what its receivers answered, for ever?", mild: true, effect: unsettledOf(),
		},
	}
}

func (p *program) deliveryOperations() []operation {
	return []operation{
		{
			use: "list", short: "List the deliveries of the tenant, newest first", method: get, path: deliveriesPath,
			query: filters("endpoint", "state", "event_type", "status_class", "failed_attempt", "idempotency_key", "since", "until"), list: deliveryColumns(),
		},
		{use: "get DELIVERY", short: "Show a delivery with its attempts and planned times", method: get, path: deliveriesPath + "/{delivery}", sends: true, view: viewDelivery},
		{
			use: "replay DELIVERY", short: "Send a delivery again", method: post, path: deliveriesPath + "/{delivery}/replay",
			body: []option{{name: "force", usage: "also a delivery in progress, which is then cancelled", kind: yes}},
		},
		{
			use: "discard DELIVERY NOTE", short: "Put a dead delivery away, with a note", method: post, path: deliveriesPath + "/{delivery}/discard",
			ask: "Put the dead delivery %s away?", mild: true,
			body: []option{{name: "note", kind: text, arg: true}},
		},
		{
			use: "cancel DELIVERY", short: "End a waiting delivery", method: post, path: deliveriesPath + "/{delivery}/cancel", ask: "End this one waiting delivery, %s? It gets no further attempt.", mild: true,
			body: []option{{name: "note", usage: "why", kind: text}},
		},
	}
}

func endpointFields() []option {
	return []option{
		{name: "uid", usage: "your own id of the endpoint", kind: text},
		{name: "description", usage: "a text for people", kind: text},
		{name: "event_types", usage: "event type, such as order.paid, order.* or *; a new endpoint has * without", kind: list},
		{name: "metadata", usage: `JSON of your own names and texts, such as {"plan":"gold"}, in place of all earlier ones`, kind: object},
		{name: "headers", usage: `JSON of headers for every request, such as {"X-Team":"crm"}; others stay, and an empty text removes one; secrets better from a file`, kind: object},
		{name: "auth.type", usage: "authentication at the receiver: none, basic, bearer or oauth2", kind: text},
		{name: "auth.username", usage: "of the type basic", kind: text},
		{name: "auth.password", usage: "of the type basic", kind: file},
		{name: "auth.token", usage: "of the type bearer", kind: file},
		{name: "auth.token_url", usage: "token endpoint of the type oauth2", kind: text},
		{name: "auth.client_id", usage: "of the type oauth2", kind: text},
		{name: "auth.client_secret", usage: "of the type oauth2", kind: file},
		{name: "auth.scope", usage: "of the type oauth2, words between spaces", kind: text},
		{name: "auth.audience", usage: "of the type oauth2", kind: text},
		{name: "auth.client_auth", usage: "of the type oauth2: basic or body", kind: text},
		{name: "tls.ca", usage: "PEM of the authorities that are trusted, instead of the roots of the system", kind: file},
		{name: "tls.certificate", usage: "PEM of the client certificate and its chain", kind: file},
		{name: "tls.key", usage: "PEM of the key of the client certificate", kind: file},
		{name: "coalesce.window", usage: "events of this time share a request, such as 5s; 0s: none", kind: text},
		{name: "coalesce.max_events", usage: "most events of a request", kind: number},
		{name: "coalesce.max_bytes", usage: "most bytes of a request", kind: number},
		{name: "retry", usage: `JSON of the retry policy, such as {"preset":"minute"} or {"schedule":["10s","1m"]}`, kind: object},
		{name: "retry_on", usage: "status with a retry beside the default ones, such as 404", kind: numbers},
		{name: "give_up_on", usage: "status without a retry, such as 501", kind: numbers},
		{name: "filter", usage: `JSON pattern of the events, such as {"payload":{"amount":[{"numeric":[">",100]}]}}; {} for every event`, kind: object},
		{name: "timeout", usage: "of an attempt, such as 10s", kind: text},
		{name: "max_retry_after", usage: "longest wait that a response can ask for, such as 1h", kind: text},
		{name: "max_age", usage: "age of a delivery that ends its attempts, such as 72h", kind: text},
		{name: "rate_per_second", usage: "most attempts per second", kind: number},
		{name: "max_in_flight", usage: "most attempts at the same time", kind: number},
		{name: "shards", usage: "keys that share the deliveries of later events, 1 to 16", kind: number},
		{name: "circuit.failures", usage: "failures in a row that open the circuit of a healthy endpoint; more are needed after other failures", kind: number},
		{name: "circuit.rate", usage: "rate of failures from which on first attempts wait, such as 0.5", kind: number},
		{name: "circuit.minimum", usage: "least attempts for the rate, or that open the circuit if all fail", kind: number},
		{name: "circuit.cooldown", usage: "time until the first probe, such as 1m", kind: text},
		{name: "circuit.max_cooldown", usage: "longest time between probes, such as 1h", kind: text},
		{name: "ordered", usage: "send events with an equal ordering key one after the other", kind: yes},
		{name: "on_failure", usage: "of an ordered endpoint: block, or skip a dead delivery", kind: text},
		{name: "auto_disable", usage: "disable the endpoint when most of its deliveries die", kind: yes},
		{name: "record_headers", usage: "also keep the headers of attempts that succeed, as a proof", kind: yes},
		{name: "signature_profiles", usage: "profile of the signature, such as standard or classic; two while a receiver moves", kind: list},
		{name: "signature_schemes", usage: "v1 or v1a", kind: list},
		{name: "region", usage: "AWS region that sends the requests; endpoints egress lists the choices", kind: text},
		{name: "egress", usage: "shared; fixed: from fixed addresses only; private: in the private network, to receivers that the deployment lists", kind: text},
		{name: "envelope", usage: "raw, standard or thin", kind: text},
		{name: "transformation", usage: "file with an expression of CEL that makes the requests; an empty file: none", kind: file},
		{name: "destination.type", usage: "http, or a type in AWS such as sqs; the url is then the address of the resource", kind: text},
		{name: "destination.role_arn", usage: "role that may send to a resource in AWS", kind: text},
		{name: "destination.source", usage: "Source of the events of the type eventbridge", kind: text},
		{name: "destination.group_by", usage: "path of a value in the payload that groups the events of the types sqs_fifo and kinesis", kind: text},
	}
}

// ownSecret is a signing secret that the caller chooses, in place of one that Surehook makes.
func ownSecret() option {
	return option{name: "secret", usage: "signing secret of your own: whsec_..., or text: and 16 to 128 visible characters", kind: file}
}

func (p *program) endpointOperations() []operation {
	one := endpointsPath + "/{endpoint}"
	action := func(use, short, path string) operation {
		return operation{use: use + " ENDPOINT", short: short, method: post, path: one + path}
	}
	return []operation{
		{
			use: "list", short: "List the endpoints of the tenant", method: get, path: endpointsPath, query: []option{
				{name: "slow", usage: "true or false: only slow endpoints, or none"}, {name: "signed_by", usage: "only endpoints that these secrets sign for: new, both or old"},
			},
			list: columns("ENDPOINT=id", "UID=uid", "URL=~url", "EVENT TYPES=~event_types", "STATUS=status", "REASON=?reason", "VERSION=?version"),
		},
		{use: "get ENDPOINT", short: "Show an endpoint with the state of its circuit", method: get, path: one, view: viewEndpoint},
		{use: "egress", short: "Show the choices for endpoints: regions, fixed addresses for firewalls, private receivers, destinations in AWS, signature profiles", method: get, path: "/v1/tenants/{tenant}/egress"},
		{
			use: "preview ENDPOINT", short: "Show the request that the endpoint would get for an event, and whether it would get the event", method: post, path: one + "/preview",
			body: []option{
				{name: "event_id", usage: "id of an accepted event", kind: text},
				{name: "event_type", usage: "type of an event, in place of event-id", kind: text},
				{name: "payload", usage: "JSON of the event's payload; the example of the type without", kind: object},
				{name: "filter", usage: "JSON of a filter to try", kind: object},
				{name: "envelope", usage: "envelope to try", kind: text},
				{name: "transformation", usage: "file with an expression to try", kind: file},
			},
		},
		{
			use: "create URL", short: "Create an endpoint; the answer shows the secret, once", method: post, path: endpointsPath, raw: true,
			body: append([]option{{name: "url", kind: text, arg: true}, ownSecret()}, endpointFields()...),
		},
		{
			use: "update ENDPOINT", short: "Change fields of an endpoint; others keep their values", method: patch, path: one, raw: true, match: true,
			body: append([]option{{name: "url", usage: "the new URL of the endpoint", kind: text}}, endpointFields()...),
		},
		{
			use: "delete ENDPOINT", short: "Delete an endpoint; its waiting deliveries are cancelled", method: remove, path: one, match: true, done: "deleted",
			ask: "Delete the endpoint %s?", mild: true, effect: waitingOf(),
		},
		{
			use: "test ENDPOINT", short: "Send a test event to an endpoint", method: post, path: one + "/test",
			body: []option{{name: "event_type", usage: "type whose example is the payload", kind: text}, {name: "payload", usage: "JSON of its payload", kind: object}},
		},
		action("pause", "Park the deliveries of an endpoint", "/pause"),
		action("resume", "Release the parked deliveries of an endpoint", "/resume"),
		action("enable", "Enable a disabled endpoint", "/enable"),
		action("disable", "Disable an endpoint", "/disable"),
		{
			use: "rotate-secret ENDPOINT", short: "Make a new secret, or take yours; the answer shows the secret, once", method: post, path: one + "/rotate-secret",
			ask: "Give the endpoint %s another secret?", mild: true,
			body: []option{{name: "overlap", usage: "old secrets sign for this time, 24h by default; a profile of one signature is signed by the old one alone", kind: text}, ownSecret()},
		},
		{use: "end-overlap ENDPOINT", short: "End the old secrets of a rotation: the newest secret signs alone", method: post, path: one + "/end-overlap", ask: "End the overlap of %s? Its old secrets stop signing at once.", mild: true},
		action("open-circuit", "Open the circuit of an endpoint", "/circuit/open"),
		action("probe", "Send a waiting delivery now, as the probe of an open circuit", "/circuit/probe"),
		action("reset-circuit", "Close the circuit of an endpoint", "/circuit/reset"),
		{
			use: "deliveries ENDPOINT", short: "List the deliveries of an endpoint, also of a deleted one", method: get, path: one + "/deliveries",
			query: filters("state", "event_type", "status_class", "failed_attempt", "idempotency_key", "since", "until"), list: deliveryColumns(),
		},
		{
			use: "conditions", short: "Show how the endpoints of the tenant do, the worst first", method: get, path: "/v1/tenants/{tenant}/health", most: mostEndpoints,
			query: []option{{name: "search", usage: "only endpoints whose id, uid, URL or description contains this", kind: text}},
			list: columns("CONDITION=condition.state", "SINCE=condition.since", causeColumn, "SUCCESS=success_rate%", "P95=latency_p95",
				"DEAD=dead", "NAME=~uid|url", "ENDPOINT=endpoint_id"),
		},
		{
			use: "attention", short: "List the endpoints that need attention, with what waits and what is lost", method: get, path: "/v1/tenants/{tenant}/attention",
			list: columns("NAME=~uid|url", "CONDITION=condition.state", causeColumn, "SINCE=condition.since", "DEAD=dead", "WAITING=waiting", "AT RISK=at_risk", "LOSS=first_loss_at", "ENDPOINT=endpoint_id"),
		},
		{use: "health ENDPOINT", short: "Show rates, percentiles and what waits", method: get, path: one + "/health", view: viewHealth},
		{
			use: "decisions ENDPOINT", short: "List Surehook's decisions about an endpoint", method: get, path: one + "/decisions",
			list: columns("AT=at", "DECISION=event_type", "REASON=reason", "DELIVERY=delivery_id"),
		},
	}
}

func (p *program) eventTypeOperations() []operation {
	one := "/v1/event-types/{type}"
	return []operation{
		{
			use: "list", short: "List the event types", method: get, path: "/v1/event-types",
			query: []option{{name: "group", usage: "only event types of this group"}, {name: "archived", usage: "true or false: only archived event types, or none"}},
			list:  columns("EVENT TYPE=event_type", "GROUP=group", "VALIDATION=validation", "ARCHIVED=archived", "VERSION=version", "DESCRIPTION=~description"),
		},
		{use: "get TYPE", short: "Show an event type with its schema", method: get, path: one},
		{
			use: "update TYPE", short: "Create or replace an event type; fields that are not named end", method: put, path: one, raw: true, match: true,
			body: []option{
				{name: "description", usage: "a text for people", kind: text},
				{name: "group", usage: "event types that belong together, such as Billing", kind: text},
				{name: "archived", usage: "no longer in use", kind: yes},
				{name: "validation", usage: "off, warn or reject", kind: text},
				{name: "schema", usage: "JSON Schema of the payload", kind: object},
				{name: "example", usage: "JSON of a payload", kind: object},
			},
		},
		{use: "delete TYPE", short: "Delete an event type; its events stay", method: remove, path: one, match: true, done: "deleted", ask: "Delete the event type %s?", mild: true},
		{
			use: "document", short: "Print the document of the API as JSON", method: get, path: "/v1/openapi.json",
			query: []option{{name: "event_types", usage: "true: with the schemas of the event types as webhooks"}},
		},
	}
}

func (p *program) rejectOperations() []operation {
	return []operation{
		{
			use: "list", short: "List rejects with their reasons", method: get, path: "/v1/rejects",
			list: columns("MESSAGE=id", "REASON=~reason", "TENANT=tenant", "EVENT TYPE=event_type", "REJECTED=rejected_at"),
		},
		{use: "redrive", short: "Send all rejects to the events queue again, after their fault was corrected", method: post, path: "/v1/rejects/redrive"},
	}
}

func (p *program) tenantOperations() []operation {
	return []operation{
		{
			use: "list", short: "List the tenants", method: get, path: "/v1/tenants", query: []option{{name: "prefix", usage: "only tenants that begin with this text"}},
			list: columns("TENANT=id", "ENDPOINTS=endpoints", "EVENTS/S=limits.events_per_second", "DELIVERIES/EVENT=limits.deliveries_per_event", "MOST ENDPOINTS=limits.endpoints", "RETAIN=limits.retain_for"),
		},
		{use: "get TENANT", short: "Show the limits of a tenant", method: get, path: limitsPath},
		{
			use: "update TENANT", short: "Set the limits of a tenant; limits that are not named end", method: put, path: limitsPath, raw: true,
			body: []option{
				{name: "events_per_second", usage: "most events per second", kind: number},
				{name: "deliveries_per_event", usage: "most endpoints of an event", kind: number},
				{name: "endpoints", usage: "most endpoints", kind: number},
				{name: "replays_per_hour", usage: "most deliveries sent again per hour", kind: number},
				{name: "changes_per_hour", usage: "most changes by the API per hour", kind: number},
				{name: "retain_for", usage: "retention of events, such as 672h", kind: text},
			},
		},
		{
			use: "erase TENANT", short: "Erase a tenant with all its records, in a job of some minutes", method: remove, path: "/v1/tenants/{tenant}",
			ask: "Erase the tenant %s with its keys, endpoints, events and deliveries, for ever?", effect: endpointsOfTenant(),
		},
		{use: "erasure TENANT ERASURE", short: "Show the job of an erasure", method: get, path: "/v1/tenants/{tenant}/erasures/{erasure}"},
		{
			use: "portal-link TENANT", short: "Make a link to the portal that opens once; whoever opens it can act for the tenant", method: post, path: "/v1/tenants/{tenant}/portal-links",
			body: []option{
				{name: "ttl", usage: "lifetime of the access that the link gives, 1m to 24h, default 1h; the link opens for 10 minutes at most", kind: text},
				{name: "scopes", usage: "read, endpoints:write, replay or transformations; default all but the last", kind: list},
			},
		},
		{use: "end-portal-link TENANT KEY", short: "End a link to the portal, opened or not, by its key_id", method: remove, path: "/v1/tenants/{tenant}/portal-links/{key}", done: "ended", ask: "End the link to the portal of the tenant %s?", mild: true},
		{use: "delete TENANT", short: "End all limits of a tenant; its events and endpoints stay", method: remove, path: limitsPath, done: "deleted the limits of", ask: "End all limits of the tenant %s?", mild: true},
	}
}

func (p *program) keyOperations() []operation {
	return []operation{
		{
			use: "list", short: "List the keys", method: get, path: "/v1/keys",
			list: columns("KEY=id", "NAME=~name", "TENANT=tenant", "SCOPES=~scopes", "CREATED=created_at", "EXPIRES=expires_at", "LAST USED=last_used_on"),
		},
		{
			use: "create NAME KEY-TENANT", short: "Create a key for a tenant, or for all with '*'; the answer shows the key, once", method: post, path: "/v1/keys", raw: true,
			body: []option{
				{name: "name", kind: text, arg: true},
				{name: "tenant", kind: text, arg: true},
				{name: "scopes", usage: "events:write, endpoints:write, transformations, private, read, replay, audit, portal:write, tenants:read or admin", kind: list},
				{name: "expires_at", usage: "end of the key, such as 2027-01-01T00:00:00Z", kind: text},
				{name: "allowed_networks", usage: "network of callers, such as 203.0.113.0/24", kind: list},
			},
		},
		{use: "caller", short: "Show who calls: the key, with its tenant and scopes", method: get, path: "/v1/caller"},
		{use: "delete KEY", short: "Revoke a key", method: remove, path: "/v1/keys/{key}", done: "revoked", ask: "Revoke the key %s? Its programs are refused at once.", mild: true},
	}
}

func (p *program) auditOperations() []operation {
	return []operation{{
		use: "list", short: "List changes, newest first: of the tenant, or without a tenant of all keys", method: get, path: "/v1/tenants/{tenant}/audit", wide: "/v1/audit",
		query: append([]option{
			{name: "action", usage: "action, such as endpoint.change"},
			{name: "target", usage: "id of the changed thing; of an endpoint also the uid"},
			{name: "key", usage: "id of the caller's key"},
		}, filters("since", "until")...),
		list: columns("AT=at", "ACTION=action", "TARGET=target", "OUTCOME=outcome", "CODE=code", "CHANGED=~changes", "BY=key_name", "FROM=source_ip"),
	}}
}

func (p *program) replayOperations() []operation {
	return []operation{
		{
			use: "list", short: "List the replay jobs of the tenant", method: get, path: replaysPath,
			list: columns("JOB=id", "STATE=state", "ACTION=action", "SELECTED=selected", "DONE=enqueued", "SKIPPED=skipped", "CREATED=created_at", "ENDED=ended_at"),
		},
		{use: "get REPLAY", short: "Show a replay job with what came of its deliveries", method: get, path: replaysPath + "/{replay}"},
		{
			use: "cancel REPLAY", short: "End a replay job; deliveries already sent go on", method: post, path: replaysPath + "/{replay}/cancel",
			ask: "Cancel the replay job %s? What it has not sent stays as it is.", mild: true, effect: sentBy(),
		},
	}
}
