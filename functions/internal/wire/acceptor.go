// Package wire builds the objects used by several functions, from configuration
// and the SDK.
package wire

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// AcceptorConfig configures an acceptor.
type AcceptorConfig struct {
	LiveQueue     string        // URL
	CoalesceQueue string        // URL; empty for test events, which wait for no window
	Retention     time.Duration // lifetime of events
	Now           func() time.Time
}

// Acceptor returns an acceptor of events over store.
func Acceptor(sdk aws.Config, store *dynamo.Store, c AcceptorConfig) *ingest.Acceptor {
	return &ingest.Acceptor{
		Store:     store,
		Queue:     sqs.New(sdk, sqs.URLs{Live: c.LiveQueue, Coalesce: c.CoalesceQueue}),
		Directory: ingest.NewDirectory(store),
		Retention: c.Retention,
		Now:       c.Now,
		NewID:     hook.NewEventID,
	}
}
