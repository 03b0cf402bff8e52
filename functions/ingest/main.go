// Function ingest accepts events over HTTP and from the events queue.
package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/source"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/names"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "ingest", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(f lambdafn.Function) (any, error) {
	store := wire.Store(f, emf.Set{})
	acceptor := wire.Acceptor(f, store)
	validation, err := hook.ParseValidation(cmp.Or(f.Validation, names.ValidationOff))
	if err != nil {
		return nil, fmt.Errorf("read validation: %w", err)
	}
	acceptor.Types = ingest.NewTypes(store, validation, ingest.TypesAge)
	h := &handler{
		api: apigateway.Handle(httpapi.Events(acceptor, f.Log)),
		source: &source.Source{
			Reader:   source.Reader{Tenant: f.TenantPath, Body: httpapi.ReadEvent},
			Acceptor: acceptor,
			Queue:    sqs.NewEventQueue(f.SDK, f.Queues.Events, f.Queues.Rejects),
			Rand:     rand.Float64,
			Metrics:  f.Metrics,
			Log:      f.Log,
			Now:      f.Now,
		},
		batches: wire.Batches(f),
	}
	return h.Handle, nil
}
