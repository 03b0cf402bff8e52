// Function manage serves the routes of the API that functions ingest and replay do not serve: for
// endpoints, circuits, event types, limits and keys, the reads of events, deliveries, attempts and
// health, and the pages of the console, the portal and the documentation.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

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
	"surehook.example/surehook/internal/config"
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
func newHandler(cfg config.Settings, sdk aws.Config, log *slog.Logger) (any, error) {
	store := wire.Store(sdk, cfg.Table, emf.Set{}, log, time.Now)
	vault, err := kms.NewSealer(sdk, cfg.KeyARN, store)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	acceptor := wire.Acceptor(cfg, sdk, store, time.Now)
	own, err := profiles.Parse([]byte(cfg.SignatureProfiles))
	if err != nil {
		lambdafn.Ignore(context.Background(), emf.Set{Environment: cfg.Environment}, log, time.Now, fmt.Errorf("read SUREHOOK_SIGNATURE_PROFILES: %w", err))
	}
	receivers, err := private.Parse([]byte(cfg.Private))
	if err != nil { // the sender does not start
		lambdafn.Ignore(context.Background(), emf.Set{Environment: cfg.Environment}, log, time.Now, fmt.Errorf("read SUREHOOK_PRIVATE_ALLOW: %w", err))
	}
	envelope := hook.EnvelopeStandard
	if cfg.Envelope == names.EnvelopeRaw {
		envelope = hook.EnvelopeRaw
	}
	endpoints := &endpoint.Admin{
		Store:        store,
		CircuitQueue: sqs.NewCircuitQueue(sdk, cfg.Queues.Circuits),
		Vault:        vault,
		Policy:       wire.Policy(cfg),
		Origins:      endpoint.Origins{Regions: cfg.Senders, Addresses: cfg.Addresses, Private: receivers},
		Destinations: hook.Destinations{RolePath: cfg.Destinations, Account: cfg.Account, Principal: cfg.Principal},
		Envelope:     envelope,
		Profiles:     own,
		NewProfiles:  cfg.Signatures,
		PerHost:      cfg.EndpointsPerHost,
		Now:          time.Now,
	}
	if cfg.Ownership != "" {
		sender, remote := wire.Senders(cfg, sdk, time.Now)
		endpoints.Prover = &ownership.Prover{Limits: store, Sender: sender, Remote: remote, Now: time.Now}
	}
	reader := &status.Reader{
		Endpoints: endpoints,
		Store:     store,
		Queues:    sqs.NewDepths(sdk, cfg.Queues),
		Now:       time.Now,
	}
	types := &eventtype.Admin{Store: store, Now: time.Now}
	return apigateway.Handle(httpapi.Manage(httpapi.Admin{
		Endpoints: endpoints,
		Status:    reader,
		Keys:      &apikey.Issuer{Store: store, Now: time.Now},
		Links:     &apikey.Links{Store: store, Now: time.Now},
		Tenants:   &tenant.Admin{Store: store, Retention: cfg.Retention},
		Types:     types,
		Rejects:   &reject.Admin{Queue: sqs.NewEventQueue(sdk, cfg.Queues.Events, cfg.Queues.Rejects), Now: time.Now},
		Previewer: &preview.Previewer{
			Endpoints: endpoints, Events: reader, Types: types, Shaper: &shape.Shaper{PublicURL: cfg.PublicURL}, Signer: &send.Sender{UserAgent: names.UserAgent(), Now: time.Now},
		},
		Searcher: &search.Searcher{Store: store, Now: time.Now},
		Tester:   acceptor,
		Guard:    tenant.Guard{Store: store, Now: time.Now},
		Audit:    &audit.Log{Store: store, Log: log, Now: time.Now},
		Portal:   cfg.Portal,
		SignIn:   cfg.SignIn,

		Environment: cfg.Environment,
	}, log)), nil
}
