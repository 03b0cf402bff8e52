package dev

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/eventtype"
	"surehook.example/surehook/internal/admin/ownership"
	"surehook.example/surehook/internal/admin/person"
	"surehook.example/surehook/internal/admin/preview"
	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/notify"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/delivery/source"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/shape"
)

// retention is the lifetime of events, bounded by the lifetime of the process.
const retention = names.MinRetention

// Keep is the number of deliveries that a process keeps unless Options say another: they take about
// 10 KB each.
const Keep = 100_000

// process is the functions in one process, wired as in the functions'
// main.go.
type process struct {
	clock       *clock
	shops       *shops // receivers of a history; nil without one
	store       *memory.Store
	keep        int // deliveries in the store at most, after each tick
	queue       *memory.TaskQueues
	deadLetters *memory.DeadLetters
	circuits    *memory.CircuitQueue
	jobs        *memory.JobQueue
	sources     *memory.EventQueue
	source      *source.Source

	authenticator *apikey.Authenticator
	acceptor      *ingest.Acceptor
	deliverer     *deliver.Deliverer
	breaker       *breaker.Breaker
	replayer      *replay.Replayer
	eraser        *erasure.Eraser
	admin         httpapi.Admin
	log           *slog.Logger

	gather sync.Mutex // held by the worker that gathers the tasks of a window
}

// newProcess wires the process for an API at the loopback address.
func newProcess(o Options, address string) (*process, error) {
	now := new(clock)
	p := &process{
		clock:    now,
		store:    memory.NewStore(),
		keep:     cmp.Or(o.Keep, Keep),
		queue:    memory.NewTaskQueues(now.Now),
		circuits: memory.NewCircuitQueue(now.Now),
		jobs:     memory.NewJobQueue(now.Now),
		sources:  memory.NewEventQueue(now.Now),
		log:      o.Log,
	}
	p.store.Table.Now = now.Now
	if o.Reads != nil {
		p.store.Table.Around = func(_ context.Context, c *table.Call, do func() error) error {
			if !c.Write {
				o.Reads.Add(1)
			}
			return do()
		}
	}
	if o.History > 0 {
		p.shops = newShops(now, now.Now().Add(-o.History), o.History)
	}
	p.deadLetters = memory.NewDeadLetters(p.queue)
	p.queue.Fair = true
	p.queue.Visibility = visibility
	p.circuits.Visibility = visibility
	p.jobs.Visibility = visibility

	directory := ingest.NewDirectory(p.store)
	p.acceptor = &ingest.Acceptor{
		Store: p.store, Queue: p.queue, Directory: directory, Retention: retention, Now: p.clock.Now, NewID: hook.NewEventID,
	}
	// Without an age, a change of an event type holds for the next post.
	validation, err := hook.ParseValidation(cmp.Or(o.Validation, names.ValidationOff))
	if err != nil {
		return nil, fmt.Errorf("read validation: %w", err)
	}
	p.acceptor.Types = ingest.NewTypes(p.store, validation, 0)
	p.source = p.newSource()
	people, err := person.New(o.SignIn, o.Log, p.clock.Now)
	if err != nil {
		return nil, fmt.Errorf("make sign-in: %w", err)
	}
	p.authenticator = &apikey.Authenticator{Keys: p.store, Admin: adminKey(o.Key), People: people, Log: o.Log, Now: p.clock.Now}
	policy := egress.Policy{Loopback: true, Own: []string{address, strings.Replace(address, "127.0.0.1", "localhost", 1)}}
	p.wireDelivery(policy, o.Ownership != "")
	p.wireManagement(policy)
	if o.Ownership != "" {
		sender := send.New(egress.NewClient(policy), policy, names.UserAgent(), p.clock.Now)
		p.admin.Endpoints.Prover = &ownership.Prover{
			Limits: p.store, Sender: sender, Remote: &remote.Sender{Signer: sender, Invoker: senders(sender), Now: p.clock.Now}, Now: p.clock.Now,
		}
	}
	p.admin.Portal, p.admin.SignIn, p.admin.Environment = o.Portal, o.SignIn, "local"
	return p, nil
}

func (p *process) wireDelivery(policy egress.Policy, oneOrigin bool) {
	notifier := notify.Notifier{History: p.store, Poster: p.acceptor, Topic: topic{p.log}, Log: p.log}
	sender := send.New(p.newClient(policy), policy, names.UserAgent(), p.clock.Now)
	sender.OneOrigin = oneOrigin
	p.deliverer = &deliver.Deliverer{
		Store: p.store,
		Attempts: &attempt.Maker{
			Shaper: new(shape.Shaper),
			Store:  p.store, Vault: memory.Vault{}, Sender: sender, Remote: &remote.Sender{Signer: sender, Invoker: senders(sender), Now: p.clock.Now},
			Log: p.log, Now: p.clock.Now,
		},
		Gate: &admit.Gate{Releaser: admit.Releaser{Store: p.store, Queue: p.queue, CircuitQueue: p.circuits, Now: p.clock.Now}, Shares: tenantShares},
		Settler: &settle.Settler{
			Completion: settle.Completion{
				Store: p.store, Queue: p.queue, DeadLetters: p.deadLetters, Notifier: notifier, Log: p.log, Now: p.clock.Now,
			},
			Schedules: memory.NewSchedules(p.queue, p.clock.Now),
		},
		Log: p.log,
		Now: p.clock.Now,
	}
	p.breaker = &breaker.Breaker{
		Store:        p.store,
		Queue:        p.queue,
		DeadLetters:  p.deadLetters,
		CircuitQueue: p.circuits,
		Notifier:     notifier,
		Log:          p.log,
		Now:          p.clock.Now,
	}
}

// origins are the choices of this process: two regions, and the loopback address.
func origins() endpoint.Origins {
	return endpoint.Origins{Regions: []string{"us-east-1", "ap-southeast-2"}, Addresses: []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}}
}

// senders are the senders of all places, in this process.
func senders(sender *send.Sender) memory.Senders {
	all := memory.Senders{"": remote.Handler{Sender: sender}}
	for _, region := range origins().Regions {
		all[region] = remote.Handler{Sender: sender}
	}
	return all
}

// newClient returns the HTTP client of all batches. A deployed client keeps as
// many connections per host as one batch can use; this client serves all
// batches.
func (p *process) newClient(policy egress.Policy) *http.Client {
	client := egress.NewClient(policy)
	connections := 0
	for _, queue := range hook.Queues() {
		connections += queue.BatchSize() * workersOf(queue)
	}
	if transport, ok := client.Transport.(*http.Transport); ok {
		transport.MaxIdleConns = 0 // no limit
		transport.MaxIdleConnsPerHost = connections
	}
	if p.shops != nil {
		p.shops.others, client.Transport = client.Transport, p.shops
	}
	return client
}

func (p *process) wireManagement(policy egress.Policy) {
	p.replayer = &replay.Replayer{
		Store:    p.store,
		Queue:    p.queue,
		JobQueue: p.jobs,
		Log:      p.log,
		Now:      p.clock.Now,
		NewID:    hook.NewJobID,
	}
	p.eraser = &erasure.Eraser{Store: p.store, Queue: p.jobs, Log: p.log, Now: p.clock.Now}
	endpoints := &endpoint.Admin{
		Store:        p.store,
		CircuitQueue: p.circuits,
		Vault:        memory.Vault{},
		Policy:       policy,
		Origins:      origins(),
		Envelope:     hook.EnvelopeStandard,
		Now:          p.clock.Now,
	}
	p.admin = httpapi.Admin{
		Guard:     tenant.Guard{Store: p.store, Now: p.clock.Now},
		Audit:     &audit.Log{Store: p.store, Log: p.log, Now: p.clock.Now},
		Endpoints: endpoints,
		Status: &status.Reader{
			Endpoints: endpoints,
			Store:     p.store,
			Queues:    memory.Queues{Events: p.sources, Tasks: p.queue, DeadLetters: p.deadLetters, Circuits: p.circuits, Jobs: p.jobs},
			Now:       p.clock.Now,
		},
		Keys:     &apikey.Issuer{Store: p.store, Now: p.clock.Now},
		Links:    &apikey.Links{Store: p.store, Now: p.clock.Now},
		Tenants:  &tenant.Admin{Store: p.store, Retention: retention},
		Types:    &eventtype.Admin{Store: p.store, Now: p.clock.Now},
		Rejects:  &reject.Admin{Queue: p.sources, Now: p.clock.Now},
		Searcher: &search.Searcher{Store: p.store, Now: p.clock.Now},
		Tester:   p.acceptor,
	}
	p.admin.Previewer = &preview.Previewer{
		Endpoints: endpoints, Events: p.admin.Status, Types: p.admin.Types, Shaper: new(shape.Shaper), Signer: &send.Sender{UserAgent: names.UserAgent(), Now: p.clock.Now},
	}
}

// handler serves the whole API. As behind API Gateway, authentication is first,
// and then the route decides about access (docs/adr/18).
func (p *process) handler() http.Handler {
	api := httpapi.All(p.acceptor, httpapi.Jobs{Replayer: p.replayer, Eraser: p.eraser, Guard: p.admin.Guard, Audit: p.admin.Audit}, p.admin, p.log)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), sqsTarget) {
			p.serveSQS(w, r)
			return
		}
		header := strings.Join(r.Header.Values("Authorization"), ",") // as in functions/authorize
		if caller, err := p.authenticator.Identify(r.Context(), header); err == nil {
			r = r.WithContext(httpapi.WithPrincipal(r.Context(), caller))
		}
		api.ServeHTTP(w, r)
	})
}

// adminKey is the API key. The stack would generate this key.
type adminKey string

// AdminKey returns the key.
func (k adminKey) AdminKey(context.Context) (string, error) { return string(k), nil }

// topic is the operators' topic.
type topic struct{ log *slog.Logger }

// Publish logs the message.
func (t topic) Publish(ctx context.Context, eventType string, message []byte) error {
	t.log.LogAttrs(ctx, slog.LevelInfo, "notification.published",
		slog.String(names.LogEventType, eventType), slog.String(names.LogMessage, string(message)))
	return nil
}
