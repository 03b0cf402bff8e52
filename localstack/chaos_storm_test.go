//go:build e2e && chaos

package localstack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/localstack/stack"
)

// kill is a kill of one process.
type kill struct {
	at       time.Time
	function string // without the stack's name
}

// kill kills random processes until ctx ends. All function processes have the
// same chance, busy or idle.
func (c *chaos) kill(ctx context.Context) error {
	dice := c.dice(1)
	for pause(ctx, between(dice, 100*time.Millisecond, 700*time.Millisecond)) {
		running, err := world.emulator.Functions()
		if err != nil {
			return err
		}
		if len(running) == 0 {
			continue
		}
		victim := running[dice.IntN(len(running))]
		at := time.Now()
		killed, err := world.emulator.Kill(victim)
		if err != nil {
			return err
		}
		if killed {
			c.kills = append(c.kills, kill{at, strings.TrimPrefix(victim.Name, stack.Name+"-")})
		}
	}
	return nil
}

func between(dice *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(dice.Int64N(int64(high-low)))
}

// switchOffAndOn disables and enables an endpoint in turn until ctx ends, and
// leaves the endpoint enabled.
func (c *chaos) switchOffAndOn(ctx context.Context) error {
	dice := c.dice(2)
	i := slices.IndexFunc(c.endpoints, func(e *chaosEndpoint) bool { return e.name == "switched" })
	path := "/endpoints/" + c.endpoints[i].ID
	for pause(ctx, between(dice, 2*time.Second, 4*time.Second)) {
		if _, _, err := c.insist(path+"/disable", nil, http.StatusOK); err != nil {
			return err
		}
		pause(ctx, between(dice, 2*time.Second, 4*time.Second))
		if _, _, err := c.insist(path+"/enable", nil, http.StatusOK); err != nil {
			return err
		}
	}
	return nil
}

// postAll posts the events, four at a time. Each post repeats until the API
// accepts the event.
func (c *chaos) postAll(ctx context.Context) error {
	const posters = 4
	var group errgroup.Group
	for p := range posters {
		group.Go(func() error {
			dice := c.dice(uint64(10 + p))
			for n := p; n < len(c.posts); n += posters {
				if err := c.postUntilAccepted(n, dice.IntN(len(c.endpoints))); err != nil {
					return err
				}
				pause(ctx, between(dice, 0, 600*time.Millisecond))
			}
			return nil
		})
	}
	return group.Wait()
}

// orderingKeys is the number of ordering keys. All events of a key come from one poster.
const orderingKeys = 8

// postUntilAccepted posts event n repeatedly with the same idempotency key,
// like a careful client.
func (c *chaos) postUntilAccepted(n, kind int) error {
	body := fmt.Appendf(nil, `{"event_type": %q, "payload": {"n": %d}, "idempotency_key": "event-%d", "ordering_key": "key-%d"}`, kindName(kind), n, n, n%orderingKeys)
	answer, tries, err := c.insist("/events", body, http.StatusAccepted)
	if err != nil {
		return fmt.Errorf("post event %d: %w", n, err)
	}
	c.posts[n].kind, c.posts[n].posts = kind, tries
	if err := json.Unmarshal(answer, &c.posts[n].Accepted); err != nil {
		return fmt.Errorf("read the answer to event %d: %w", n, err)
	}
	return nil
}

// postTo posts an event of each key to the ordered endpoint, and returns their numbers: a number whose
// event was lost with a killed process is passed when the next event of its key comes.
func (c *chaos) postTo(name string) (added []int) {
	c.Helper()
	kind := slices.IndexFunc(c.endpoints, func(e *chaosEndpoint) bool { return e.name == name })
	for range orderingKeys {
		n := len(c.posts)
		c.posts = append(c.posts, chaosPost{})
		if err := c.postUntilAccepted(n, kind); err != nil {
			c.Fatal(err)
		}
		added = append(added, n)
	}
	return added
}

// insist posts until the answer has the status. Any other answer must be caused by a kill: no
// answer, or a status of 500 or above.
func (c *chaos) insist(path string, body []byte, want int) (answer []byte, tries int, err error) {
	for tries = 1; ; tries++ {
		resp, err := world.api.Do(c.ctx, http.MethodPost, "/v1/tenants/"+c.tenant+path, body)
		switch {
		case err == nil && resp.Status == want:
			return resp.Body, tries, nil
		case err == nil && resp.Status < http.StatusInternalServerError:
			return nil, tries, fmt.Errorf("post %s: status %d instead of %d: %s", path, resp.Status, want, resp.Body)
		}
		if !pause(c.ctx, 200*time.Millisecond) {
			return nil, tries, fmt.Errorf("post %s: %w; the last answer was %d %s, %w", path, context.Cause(c.ctx), resp.Status, resp.Body, err)
		}
	}
}
