package wire

import (
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/sns"
	"surehook/internal/delivery/notify"
	"surehook/internal/emf"
)

// NotifierConfig is what a notifier needs beside the store.
type NotifierConfig struct {
	Events   AcceptorConfig // of the events that carry notifications
	TopicARN string
	Metrics  emf.Set
}

// Notifier returns the notifier of owners and operators.
func Notifier(sdk aws.Config, store *dynamo.Store, c NotifierConfig, log *slog.Logger) (notify.Notifier, error) {
	poster, err := Acceptor(sdk, store, c.Events)
	if err != nil {
		return notify.Notifier{}, err
	}
	return notify.Notifier{
		History: store,
		Poster:  poster,
		Topic:   sns.New(sdk, c.TopicARN),
		Metrics: c.Metrics,
		Log:     log,
	}, nil
}
