package dynamo_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

const (
	milliseconds = "2006-01-02T15:04:05.000Z"
	ownDead      = string(endpointID) + "#dead#" // begins the text of a cursor of the endpoint's dead deliveries
)

// positionIn returns the time in the text of a cursor of the endpoint's dead
// deliveries; ok is false for another text.
func positionIn(text string) (at time.Time, ok bool) {
	position, own := strings.CutPrefix(text, ownDead)
	parts := strings.Split(position, "#")
	if !own || len(parts) != 3 {
		return at, false
	}
	at, noTime := time.Parse(milliseconds, parts[0])
	_, noEvent := hook.ParseEventID(parts[1])
	return at, noTime == nil && noEvent == nil && at.Format(milliseconds) == parts[0] && regexp.MustCompile(`\A[0-9]{4}\z`).MatchString(parts[2])
}

// noTable is a client of a table. Every request fails the test.
type noTable struct{ asked bool }

func (c *noTable) Do(r *http.Request) (*http.Response, error) {
	c.asked = true
	return nil, r.Context().Err()
}

// FuzzSelectionPosition checks that Select rejects a position outside a selection
// with time bounds, without a request.
func FuzzSelectionPosition(f *testing.F) {
	const id = string(eventID) + "#0001"
	from, to := epoch, epoch.Add(time.Hour)
	for _, at := range []time.Time{from, to, from.Add(-time.Millisecond), to.Add(-time.Millisecond), from.AddDate(1, 0, 0), {}} {
		f.Add(ownDead + at.Format(milliseconds) + "#" + id)
	}
	for _, position := range []string{"", "dead$", ownDead + from.Format(milliseconds), strings.Replace(ownDead, "dead", "delivered", 1) + from.Format(milliseconds) + "#" + id} {
		f.Add(position)
	}

	f.Fuzz(func(t *testing.T, position string) {
		client := &noTable{}
		store := dynamo.New(aws.Config{
			Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
			HTTPClient: client, RetryMaxAttempts: 1,
		}, "table")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := store.Select(ctx, replay.Selection{
			Target: hook.Target{Endpoint: endpointID, Shards: 1}, State: hook.StateDead, From: from, To: to, Limit: 1,
			After: base64.RawURLEncoding.EncodeToString([]byte(position)),
		})
		created, possible := positionIn(position)
		valid := position == "" || possible && !created.Before(from) && created.Before(to)
		if refused := hook.CodeOf(err) == hook.CodeInvalid; refused == valid {
			t.Errorf("Select(after %q) = %v; valid: %t", position, err, valid)
		} else if refused && client.asked {
			t.Errorf("Select(after %q) was rejected after a request; want no request", position)
		}
	})
}
