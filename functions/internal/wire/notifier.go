package wire

import (
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/aws/sns"
	"surehook.example/surehook/internal/delivery/notify"
	"surehook.example/surehook/internal/emf"
)

// NotifierConfig configures a notifier.
type NotifierConfig struct {
	Events   AcceptorConfig // for the events with notifications
	TopicARN string
	Metrics  emf.Set
}

// Notifier returns the notifier of owners (by event) and operators (by topic).
func Notifier(sdk aws.Config, store *dynamo.Store, c NotifierConfig, log *slog.Logger) notify.Notifier {
	return notify.Notifier{
		History: store,
		Poster:  Acceptor(sdk, store, c.Events),
		Topic:   sns.New(sdk, c.TopicARN),
		Metrics: c.Metrics,
		Log:     log,
	}
}
