// Function manage serves the routes of the API that functions ingest and replay do not serve: for
// endpoints, circuits, event types, limits and keys, the reads of events, deliveries, attempts and
// health, and the pages of the console, the portal and the documentation.
package main

import (
	"context"
	"fmt"
	"os"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/eventtype"
	"surehook.example/surehook/internal/admin/ownership"
	"surehook.example/surehook/internal/admin/preview"
	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/private"
	"surehook.example/surehook/internal/rule/profiles"
	"surehook.example/surehook/internal/rule/shape"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "manage", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(f lambdafn.Function) (any, error) {
	store := wire.Store(f, emf.Set{})
	vault, err := kms.NewSealer(f.SDK, f.KeyARN, store)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	acceptor := wire.Acceptor(f, store)
	own, err := profiles.Parse([]byte(f.SignatureProfiles))
	if err != nil {
		f.Ignore(context.Background(), fmt.Errorf("read SUREHOOK_SIGNATURE_PROFILES: %w", err))
	}
	receivers, err := private.Parse([]byte(f.Private))
	if err != nil { // the sender does not start
		f.Ignore(context.Background(), fmt.Errorf("read SUREHOOK_PRIVATE_ALLOW: %w", err))
	}
	envelope := hook.EnvelopeStandard
	if f.Envelope == names.EnvelopeRaw {
		envelope = hook.EnvelopeRaw
	}
	endpoints := &endpoint.Admin{
		Store:        store,
		CircuitQueue: sqs.NewCircuitQueue(f.SDK, f.Queues.Circuits),
		Vault:        vault,
		Policy:       wire.Policy(f),
		Origins:      endpoint.Origins{Regions: f.Senders, Addresses: f.Addresses, Private: receivers},
		Destinations: hook.Destinations{RolePath: f.Destinations, Account: f.Account, Principal: f.Principal},
		Envelope:     envelope,
		Profiles:     own,
		NewProfiles:  f.Signatures,
		PerHost:      f.EndpointsPerHost,
		Now:          f.Now,
	}
	if f.Ownership != "" {
		sender, remote := wire.Senders(f)
		endpoints.Prover = &ownership.Prover{Limits: store, Sender: sender, Remote: remote, Now: f.Now}
	}
	reader := &status.Reader{
		Endpoints: endpoints,
		Store:     store,
		Queues:    sqs.NewDepths(f.SDK, f.Queues),
		Now:       f.Now,
	}
	types := &eventtype.Admin{Store: store, Now: f.Now}
	return apigateway.Handle(httpapi.Manage(httpapi.Admin{
		Endpoints: endpoints,
		Status:    reader,
		Keys:      &apikey.Issuer{Store: store, Now: f.Now},
		Links:     &apikey.Links{Store: store, Now: f.Now},
		Tenants:   &tenant.Admin{Store: store, Retention: f.Retention},
		Types:     types,
		Rejects:   &reject.Admin{Queue: sqs.NewEventQueue(f.SDK, f.Queues.Events, f.Queues.Rejects), Now: f.Now},
		Previewer: &preview.Previewer{
			Endpoints: endpoints, Events: reader, Types: types, Shaper: &shape.Shaper{PublicURL: f.PublicURL}, Signer: &send.Sender{UserAgent: names.UserAgent(), Now: f.Now},
		},
		Searcher: &search.Searcher{Store: store, Now: f.Now},
		Tester:   acceptor,
		Guard:    tenant.Guard{Store: store, Now: f.Now},
		Audit:    &audit.Log{Store: store, Log: f.Log, Now: f.Now},
		Portal:   f.Portal,
		SignIn:   f.SignIn,

		Environment: f.Environment,
	}, f.Log)), nil
}
