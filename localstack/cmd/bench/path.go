package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/localstack/cmd/bench/usage"
)

const (
	// perRound is the number of deliveries of a round.
	perRound = 1000
	// rounds is the number of rounds of each row. The result is the median by CPU.
	rounds = 3
	// toWarm is the number of deliveries before the measured ones. 20 to each endpoint make it
	// fast, so that its tasks stay on queue live.
	toWarm = 400
	// most is the number of messages of a batch, and of tenants.
	most = 10
)

// payload is the payload of each event, of 500 bytes.
var payload = `{"text":"` + strings.Repeat("x", 489) + `"}` //nolint:gochecknoglobals // a constant

// goalCPU is the goal of both functions together, in CPU seconds per 1,000 deliveries.
const goalCPU = 0.4

// deployed is the deployed path: the functions over stub services.
type deployed struct {
	services *services
	receiver *receiver
	ingest   *function
	deliver  *function
	stops    []func() error
}

func (d *deployed) stop() error {
	var errs []error
	for _, stop := range slices.Backward(d.stops) {
		errs = append(errs, stop())
	}
	return errors.Join(errs...)
}

// deploy starts everything, with one endpoint for each tenant.
func deploy(ctx context.Context, folder string) (d *deployed, err error) {
	d = &deployed{services: newServices()}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.stop())
		}
	}()
	authority, err := newAuthority(filepath.Join(folder, "roots.pem"))
	if err != nil {
		return d, err
	}
	aws := authority.serve(d.services)
	d.stops = append(d.stops, func() error { aws.Close(); return nil })
	d.receiver = &receiver{}
	sink := authority.serve(d.receiver)
	d.stops = append(d.stops, func() error { sink.Close(); return nil })
	d.receiver.url, d.receiver.env = sink.URL, authority.env()

	env := append(authority.env(), "AWS_ENDPOINT_URL="+aws.URL, "SUREHOOK_EGRESS"+"="+names.EgressLoopback)
	start := func(name string) (*function, error) {
		f, err := startFunction(ctx, folder, name, env)
		if err == nil {
			d.stops = append(d.stops, f.stop)
		}
		return f, err
	}
	manage, err := start("manage")
	if err != nil {
		return d, err
	}
	for n := range most {
		body := fmt.Sprintf(`{"url":"%s/%d","event_types":["*"]}`, sink.URL, n)
		if err := manage.request(ctx, tenantOf(n), "/endpoints", body, http.StatusCreated); err != nil {
			return d, err
		}
	}
	if d.ingest, err = start("ingest"); err != nil {
		return d, err
	}
	d.deliver, err = start("deliver")
	return d, err
}

func tenantOf(n int) string { return "tenant-" + strconv.Itoa(n) }

// post posts a number of events of one tenant at once.
func (d *deployed) post(ctx context.Context, tenant string, events int) error {
	event := `{"event_type":"order.paid","payload":` + payload + `}`
	if events == 1 {
		return d.ingest.request(ctx, tenant, "/events", event, http.StatusAccepted)
	}
	return d.ingest.request(ctx, tenant, "/events/batch", `{"events":[`+strings.Repeat(event+",", events-1)+event+`]}`, http.StatusAccepted)
}

// receive gives a batch of a queue to function deliver, as SQS does.
func (d *deployed) receive(ctx context.Context, queue string, batch []message) error {
	var e events.SQSEvent
	for n, m := range batch {
		e.Records = append(e.Records, events.SQSMessage{
			MessageId: "059f36b4-87a3-44ab-83d2-66197" + strconv.Itoa(1000000+n), ReceiptHandle: strings.Repeat("AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a", 8), Body: m.body,
			Attributes: map[string]string{
				"ApproximateReceiveCount": "1", "SentTimestamp": "1545082649183", "SenderId": "AIDAIENQZJOLO23YVJ4VO", "ApproximateFirstReceiveTimestamp": "1545082649185", "MessageGroupId": m.group,
			},
			EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:us-east-1:123456789012:" + queue, AWSRegion: "us-east-1",
		})
	}
	event, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write a batch: %w", err)
	}
	response, err := d.deliver.invoke(ctx, event)
	if err != nil {
		return err
	}
	var answer events.SQSEventResponse
	if err := json.Unmarshal(response, &answer); err != nil || len(answer.BatchItemFailures) > 0 {
		return fmt.Errorf("a batch of %s failed: %s", queue, response)
	}
	return nil
}

// load is what one row of the table measures.
type load struct{ batch, endpoints int }

// round is what the functions use for one round of a load.
type round struct{ ingest, deliver usage.Usage }

func (r round) cpu() float64 { return perThousand(r.ingest) + perThousand(r.deliver) }

// run posts and delivers n events.
func (d *deployed) run(ctx context.Context, l load, n int) (r round, queues int, err error) {
	before, err := d.ingest.used()
	if err != nil {
		return r, 0, err
	}
	for i := range n / l.batch {
		if err := d.post(ctx, tenantOf(i%l.endpoints), l.batch); err != nil {
			return r, 0, err
		}
	}
	after, err := d.ingest.used()
	if err != nil {
		return r, 0, err
	}
	r.ingest = after.Sub(before)

	if before, err = d.deliver.used(); err != nil {
		return r, 0, err
	}
	came := d.receiver.count.Load()
	for sent := d.services.take(); len(sent) > 0; sent = d.services.take() {
		for queue, messages := range sent {
			queues++
			for batch := range slices.Chunk(mixed(messages), l.batch) {
				if err := d.receive(ctx, queue, batch); err != nil {
					return r, 0, err
				}
			}
		}
	}
	if after, err = d.deliver.used(); err != nil {
		return r, 0, err
	}
	r.deliver = after.Sub(before)
	if came = d.receiver.count.Load() - came; came != int64(n) {
		return r, 0, fmt.Errorf("%d of %d events came", came, n)
	}
	return r, queues, nil
}

// mixed returns the messages of all groups by turns, as a fair queue does.
func mixed(messages []message) []message {
	byGroup := make(map[string][]message)
	var order []string
	for _, m := range messages {
		if byGroup[m.group] == nil {
			order = append(order, m.group)
		}
		byGroup[m.group] = append(byGroup[m.group], m)
	}
	var out []message
	for n := 0; len(out) < len(messages); n++ {
		for _, group := range order {
			if n < len(byGroup[group]) {
				out = append(out, byGroup[group][n])
			}
		}
	}
	return out
}

// measure returns the median round of a load.
func (d *deployed) measure(ctx context.Context, l load) (round, error) {
	var all []round
	for range rounds {
		r, queues, err := d.run(ctx, l, perRound)
		if err != nil {
			return r, err
		}
		if queues > 1 {
			return r, errors.New("the tasks moved to another queue")
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b round) int { return cmp.Compare(a.cpu(), b.cpu()) })
	return all[rounds/2], nil
}

// paths measures the functions of the path as deployed.
func paths(ctx context.Context) (text string, err error) {
	folder, err := os.MkdirTemp("", "surehook-bench-")
	if err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the system clears its temporary folder
	d, err := deploy(ctx, folder)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	for _, l := range []load{{1, most}, {most, most}} {
		if _, _, err := d.run(ctx, l, toWarm); err != nil {
			return "", err
		}
	}
	var rows [][]string
	for _, l := range []load{{1, 1}, {1, most}, {most, 1}, {most, most}} {
		calls := d.services.count()
		r, err := d.measure(ctx, l)
		if err != nil {
			return "", err
		}
		goal := ""
		if l.batch == most {
			goal = fmt.Sprintf("<= %.1f s", goalCPU)
		}
		rows = append(rows, []string{
			strconv.Itoa(l.batch), strconv.Itoa(l.endpoints), seconds(r.ingest), seconds(r.deliver), fmt.Sprintf("%.3f s", r.cpu()), goal,
			allocated(r.ingest), allocated(r.deliver), fmt.Sprintf("%.1f", float64(d.services.count()-calls)/rounds/perRound),
		})
	}
	kept, err := d.beside(ctx)
	if err != nil {
		return "", err
	}
	d.receiver.closes.Store(true)
	fresh, err := d.beside(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(pathText, perRound, rounds) +
		table([]string{"batch", "endpoints", "ingest", "deliver", "together", "goal", "allocated by ingest", "by deliver", "requests"}, rows) +
		bareText + table([]string{"connections", "deliver", "bare posts", "share"}, [][]string{append([]string{"kept"}, kept...), append([]string{"new"}, fresh...)}) +
		"\n" + peersMeasured, nil
}

// beside measures function deliver beside bare posts: batches of ten to ten endpoints.
func (d *deployed) beside(ctx context.Context) ([]string, error) {
	ours, err := d.measure(ctx, load{most, most})
	if err != nil {
		return nil, err
	}
	bare, err := d.receiver.bare(ctx, perRound/most)
	if err != nil {
		return nil, err
	}
	return []string{seconds(ours.deliver), seconds(bare), fmt.Sprintf("%.2f", bare.CPU.Seconds()/ours.deliver.CPU.Seconds())}, nil
}

// perThousand returns the CPU seconds per 1,000 deliveries of a round.
func perThousand(u usage.Usage) float64 { return u.CPU.Seconds() / perRound * 1000 }

func seconds(u usage.Usage) string { return fmt.Sprintf("%.3f s", perThousand(u)) }

// allocated returns the allocations per delivery of a round.
func allocated(u usage.Usage) string {
	return fmt.Sprintf("%d, %.0f KB", u.Objects/perRound, float64(u.Bytes)/perRound/1e3)
}

const pathText = `## The path, as deployed

CPU time of ` + "`ingest`" + ` and ` + "`deliver`" + ` per 1,000 deliveries of 500 bytes, as processes built by ` + "`make build`" + `, with Lambda's runtime API, the SDK and TLS. AWS and the receiver answer over loopback from another process, which is not counted. "Batch" is the number of
events of a post and of tasks that ` + "`deliver`" + ` gets at once; "endpoints" is how many endpoints of different tenants share it. "Allocated" and "requests" (to DynamoDB, SQS and KMS) are per delivery. Each row is the median of %[2]d rounds of %[1]d deliveries over kept connections.

`

const bareText = `
` + "`deliver`" + ` with batches of ten to ten endpoints, beside bare signed POSTs of an ` + "`http.Client`" + ` with the same headers, per 1,000 over TLS. The share is the part of a delivery that is the post itself; new less kept is the cost of a TLS handshake (P-256).

`
