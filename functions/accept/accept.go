// Package accept wires how events are accepted, for the functions that accept some.
package accept

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/sqs"
	"surehook/internal/hook"
	"surehook/internal/ingest"
)

// Config is what a function knows of it.
type Config struct {
	LiveQueue string        // URL
	Retention time.Duration // how long events are kept
	Now       func() time.Time
}

// Acceptor returns what accepts events.
func Acceptor(sdk aws.Config, store *dynamo.Store, c Config) (*ingest.Acceptor, error) {
	directory, err := ingest.NewDirectory(store)
	if err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	return &ingest.Acceptor{
		Store:     store,
		Queue:     sqs.New(sdk, sqs.URLs{Live: c.LiveQueue}),
		Directory: directory,
		Retention: c.Retention,
		Now:       c.Now,
		NewID:     hook.NewEventID,
	}, nil
}
