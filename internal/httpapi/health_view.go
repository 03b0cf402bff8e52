package httpapi

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/stats"
)

// endpointHealthView is the health of one endpoint.
type endpointHealthView struct {
	Endpoint     hook.EndpointID  `json:"endpoint_id"`
	At           time.Time        `json:"at"`
	Status       string           `json:"status"`
	Condition    conditionView    `json:"condition"`
	Speed        string           `json:"speed"` // the speed class, which decides on the queue
	Slow         bool             `json:"slow"`
	Fragile      bool             `json:"fragile"`
	Warned       int              `json:"warned"`  // percent
	Timeout      time.Duration    `json:"timeout"` // of the next attempt
	Limits       limitsView       `json:"limits"`
	CircuitState circuitStateView `json:"circuit_state"`
	Deliveries   countsView       `json:"deliveries"`
	Backlog      *backlogView     `json:"backlog,omitzero"`
	countedView
	Windows windowsView `json:"windows"`
}

// countedView says how far counts of deliveries are to be trusted.
type countedView struct {
	Complete bool      `json:"complete"`
	AsOf     time.Time `json:"as_of,omitzero"`
}

// limitsView holds the limits of the endpoint. Without a limit, its count is left out.
type limitsView struct {
	RatePerSecond float64 `json:"rate_per_second"` // 0: no limit
	RateWaiting   *int    `json:"rate_waiting,omitzero"`
	MaxInFlight   int     `json:"max_in_flight"` // 0: no limit
	InFlight      *int    `json:"in_flight,omitzero"`
}

type countsView struct {
	Queued    int                 `json:"queued_estimate"`
	Retrying  int                 `json:"retrying"`
	Parked    int                 `json:"parked"`
	Reasons   map[hook.Reason]int `json:"parked_by_reason"` // of the oldest parked deliveries
	Dead      int                 `json:"dead"`
	Delivered int                 `json:"delivered"` // in 24 hours
}

// backlogView is what becomes of the parked deliveries if nothing changes.
type backlogView struct {
	PerSecond float64   `json:"per_second"` // 0: nothing leaves
	DrainsBy  time.Time `json:"drains_by,omitzero"`
	AtRisk    int       `json:"at_risk"`
	FirstLoss time.Time `json:"first_loss_at,omitzero"`
}

type windowsView struct {
	Hour windowView `json:"1h"`
	Day  windowView `json:"24h"`
}

// windowView holds the counts since a time.
type windowView struct {
	Since time.Time `json:"since"`
	figuresView
	FinalSuccess *float64       `json:"final_success_rate,omitzero"`
	ByOutcome    map[string]int `json:"attempts_by_outcome"`
}

// figuresView holds what windows and rows of statistics have in common. Rates and durations without
// samples are left out.
type figuresView struct {
	Attempts     int            `json:"attempts"`
	Success      *float64       `json:"success_rate,omitzero"`
	FirstSuccess *float64       `json:"first_attempt_success_rate,omitzero"`
	DeadRate     *float64       `json:"dead_rate,omitzero"`
	Delivered    int            `json:"delivered"`
	Dead         int            `json:"dead"`
	Latency      *latencyView   `json:"latency,omitzero"`
	MeanDelivery *time.Duration `json:"mean_delivery_time,omitzero"`
	ByNumber     []int          `json:"attempts_by_number"` // first attempts, second attempts, ...
}

// latencyView has fractions of milliseconds, because rounding short times to milliseconds would
// exceed the error of 5 %.
type latencyView struct {
	Samples int           `json:"samples"`
	P50     time.Duration `json:"p50"`
	P95     time.Duration `json:"p95"`
	P99     time.Duration `json:"p99"`
}

// pipelineView is the health of the pipeline.
type pipelineView struct {
	At time.Time `json:"at"`
	countedView
	Queued       int                 `json:"queued"`
	Retrying     int                 `json:"retrying"`
	InFlight     int                 `json:"in_flight"`
	Parked       int                 `json:"parked"`
	Reasons      map[hook.Reason]int `json:"parked_by_reason"` // of the oldest parked deliveries of each endpoint
	Dead         int                 `json:"dead"`
	AtRisk       int                 `json:"at_risk"`
	FirstLoss    time.Time           `json:"first_loss_at,omitzero"`
	Oldest       *pendingView        `json:"oldest_pending,omitzero"`
	OpenCircuits int                 `json:"open_circuits"`
	OpenByTenant []tenantCountView   `json:"open_circuits_by_tenant"`
	Attention    []attentionView     `json:"attention"`
	LastHour     lastHourView        `json:"last_hour"`
	Queues       queuesView          `json:"queues"`
}

// tenantCountView is the number of a tenant's open circuits.
type tenantCountView struct {
	Tenant hook.TenantID `json:"tenant"`
	Count  int           `json:"count"`
}

type pendingView struct {
	Delivery  hook.DeliveryID `json:"delivery_id"`
	Tenant    hook.TenantID   `json:"tenant"`
	State     string          `json:"state"`
	CreatedAt time.Time       `json:"created_at"`
	Age       time.Duration   `json:"age"`
}

type lastHourView struct {
	Since        time.Time      `json:"since"`
	Delivered    int            `json:"delivered"`
	Failed       int            `json:"failed"` // attempts
	Dead         int            `json:"dead"`
	MeanDelivery *time.Duration `json:"mean_delivery_time,omitzero"`
}

// queuesView holds the queues by the names of package config.
type queuesView struct {
	Events        depthView `json:"events"`
	Rejects       depthView `json:"rejects"`
	Live          depthView `json:"live"`
	Retry         depthView `json:"retry"`
	Replay        depthView `json:"replay"`
	Slot          depthView `json:"slot"`
	Overflow      depthView `json:"overflow"`
	Coalesce      depthView `json:"coalesce"`
	ReplayJobs    depthView `json:"replay_jobs"`
	Circuits      depthView `json:"circuits"`
	DeadLetters   depthView `json:"dead_letters"`
	Undeliverable depthView `json:"undeliverable"`
}

type depthView struct {
	Visible  int `json:"visible"`
	InFlight int `json:"in_flight"`
	Delayed  int `json:"delayed"`
}

func viewEndpointHealth(h status.Health) endpointHealthView {
	flags := h.Status.Gate.Review
	timeout := h.Status.Endpoint.Timeout
	if flags.Timeout > 0 {
		timeout = min(timeout, flags.Timeout)
	}
	return endpointHealthView{
		Endpoint:     h.Status.Endpoint.ID,
		At:           h.At,
		Status:       h.Status.Endpoint.Status.String(),
		Condition:    viewOf[conditionView](h.Condition),
		Speed:        h.Status.Gate.SpeedAtNow(h.At).String(),
		Slow:         flags.Slow,
		Fragile:      flags.Fragile,
		Warned:       flags.Warned,
		Timeout:      timeout,
		Limits:       viewLimits(h.Status),
		CircuitState: viewCircuitState(h.Status),
		Deliveries: countsView{
			Queued: int(math.Round(h.Queued)), Retrying: h.Waiting.Retrying, Parked: h.Waiting.Parked, Reasons: viewReasons(h.Waiting.Reasons),
			Dead: h.Dead, Delivered: h.Day.Delivered,
		},
		Backlog:     viewBacklog(h.Backlog),
		countedView: countedView(h.Counted),
		Windows:     windowsView{Hour: viewWindow(h.Hour), Day: viewWindow(h.Day)},
	}
}

func viewBacklog(f *drain.Forecast) *backlogView {
	if f == nil {
		return nil
	}
	v := viewOf[backlogView](*f)
	v.DrainsBy, v.FirstLoss = f.DrainsBy.Truncate(time.Second), f.FirstLoss.Truncate(time.Second)
	return &v
}

func viewReasons(of map[hook.Reason]int) map[hook.Reason]int {
	if of == nil {
		return map[hook.Reason]int{}
	}
	return of
}

func viewLimits(s endpoint.Status) limitsView {
	v := limitsView{RatePerSecond: s.Endpoint.RatePerSecond, MaxInFlight: s.Endpoint.MaxInFlight}
	if v.RatePerSecond > 0 {
		v.RateWaiting = &s.Reserved
	}
	if v.MaxInFlight > 0 {
		v.InFlight = &s.InFlight
	}
	return v
}

func viewWindow(w status.Window) windowView {
	f := w.Figures()
	v := windowView{Since: w.Since, figuresView: viewFigures(&f), FinalSuccess: known(f.FinalRate(), f.Settled()), ByOutcome: viewOutcomes(f.ByOutcome[:])}
	if v.ByOutcome == nil {
		v.ByOutcome = map[string]int{}
	}
	return v
}

func viewFigures(f *stats.Figures) figuresView {
	v := viewOf[figuresView](*f)
	v.Success, v.FirstSuccess, v.DeadRate = known(f.SuccessRate(), f.Attempts), known(f.FirstRate(), f.ByNumber[1]), known(f.DeadRate(), f.Settled())
	v.MeanDelivery, v.ByNumber = viewMean(f), viewNumbers(f.ByNumber[:])
	if n, percentile := f.Latency(); n > 0 {
		v.Latency = viewLatency(n, percentile)
	}
	return v
}

// known returns the rate of n samples; nil without samples.
func known(rate float64, n int) *float64 {
	if n == 0 {
		return nil
	}
	return &rate
}

// viewMean returns the mean time from creation to delivery; nil without deliveries.
func viewMean(f *stats.Figures) *time.Duration {
	if f.Delivered == 0 {
		return nil
	}
	return new(f.MeanAge().Truncate(time.Millisecond))
}

func viewPipeline(p status.Pipeline) pipelineView {
	hour := p.Hour.Figures()
	v := pipelineView{
		At:           p.At,
		countedView:  countedView(p.Counted),
		Queued:       p.Queued(),
		Retrying:     p.Waiting.Retrying,
		InFlight:     p.InFlight(),
		Parked:       p.Waiting.Parked,
		Reasons:      viewReasons(p.Waiting.Reasons),
		Dead:         p.Dead,
		AtRisk:       p.Waiting.AtRisk,
		FirstLoss:    p.Waiting.FirstLoss,
		OpenByTenant: viewOpen(p.OpenCircuits),
		Attention:    viewAttention(p.Attention),
		LastHour: lastHourView{
			Since:        p.Hour.Since,
			Delivered:    hour.Delivered,
			Failed:       hour.Attempts - hour.Successes,
			Dead:         hour.Dead,
			MeanDelivery: viewMean(&hour),
		},
		Queues: viewQueues(p.Queues),
	}
	for _, n := range p.OpenCircuits {
		v.OpenCircuits += n
	}
	if d := p.Oldest; !d.CreatedAt.IsZero() {
		v.Oldest = &pendingView{
			Delivery: d.ID, Tenant: d.Tenant, State: d.State.String(), CreatedAt: d.CreatedAt,
			Age: p.At.Sub(d.CreatedAt),
		}
	}
	return v
}

// viewQueues returns the depths by their names in the view.
func viewQueues(depths map[string]status.Depth) queuesView {
	var v queuesView
	for field, view := range reflect.ValueOf(&v).Elem().Fields() {
		view.Set(reflect.ValueOf(depthView(depths[field.Tag.Get("json")])))
	}
	return v
}

// maxOpenTenants bounds the tenants with open circuits in a response.
const maxOpenTenants = 10

// viewOpen returns the tenants with the most open circuits, most first.
func viewOpen(open map[hook.TenantID]int) []tenantCountView {
	views := make([]tenantCountView, 0, len(open))
	for tenant, n := range open {
		views = append(views, tenantCountView{Tenant: tenant, Count: n})
	}
	slices.SortFunc(views, func(a, b tenantCountView) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tenant, b.Tenant))
	})
	return views[:min(len(views), maxOpenTenants)]
}
