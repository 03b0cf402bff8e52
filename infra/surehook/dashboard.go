package surehook

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// widget is one widget of the dashboard: lines over time, or the latest values.
type widget struct {
	title string
	width int // of 24 columns
	// left and right are the metrics of the two axes.
	left, right metrics
	// unit is the label of the left axis.
	unit             string
	numbers, stacked bool
	// limit draws a line at an alarm's threshold; 0 draws none.
	limit float64
}

// Heights of the rows in grid units.
const (
	graphHeight  = 6
	numberHeight = 3
	statusHeight = 4
)

// newDashboard makes the dashboard: first the alarms, then the widgets.
func newDashboard(p plan, alarms []awscloudwatch.Alarm) awscloudwatch.Dashboard {
	dashboard := awscloudwatch.NewDashboard(p.Construct, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: &p.Prefix,
		Start:         jsii.String("-PT3H"),
	})
	dashboard.AddWidgets(status(p, alarms)...)
	for _, row := range widgets(p) {
		var made []awscloudwatch.IWidget
		for _, w := range row {
			made = append(made, w.render())
		}
		dashboard.AddWidgets(made...)
	}
	return dashboard
}

// status returns the first row: the current alarms and links to the documents.
func status(p plan, alarms []awscloudwatch.Alarm) []awscloudwatch.IWidget {
	text := strings.Join([]string{
		"# Surehook " + p.Environment.Name,
		"From the top: waiting and dead deliveries, delivery latency, endpoints' answers, then Surehook's own parts.",
		"Each alarm's description names the first action; `" + strings.TrimSuffix(runbook, "#") + "` has the rest. The saved Logs Insights queries `" + p.Prefix + "/…` show the reasons for failed deliveries.",
	}, "\n\n")
	refs := make([]interfacesawscloudwatch.IAlarmRef, len(alarms))
	for i, a := range alarms {
		refs[i] = a
	}
	return []awscloudwatch.IWidget{
		awscloudwatch.NewTextWidget(&awscloudwatch.TextWidgetProps{Markdown: &text, Width: jsii.Number(8), Height: jsii.Number(statusHeight)}),
		awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
			Title: jsii.String("Alarms"), Alarms: &refs, Width: jsii.Number(16), Height: jsii.Number(statusHeight),
			SortBy: awscloudwatch.AlarmStatusWidgetSortBy_STATE_UPDATED_TIMESTAMP,
		}),
	}
}

// render converts the widget to CDK's form.
func (w widget) render() awscloudwatch.IWidget {
	if w.numbers {
		return awscloudwatch.NewSingleValueWidget(&awscloudwatch.SingleValueWidgetProps{
			Title: &w.title, Metrics: &w.left, Width: jsii.Number(w.width), Height: jsii.Number(numberHeight),
		})
	}
	props := awscloudwatch.GraphWidgetProps{
		Title: &w.title, Left: &w.left, Width: jsii.Number(w.width), Height: jsii.Number(graphHeight),
		// No metric is negative. A graph that does not start at 0 exaggerates noise.
		LeftYAxis: &awscloudwatch.YAxisProps{Min: jsii.Number(0), Label: &w.unit, ShowUnits: jsii.Bool(false)},
		Stacked:   &w.stacked,
	}
	if len(w.right) > 0 {
		props.Right = &w.right
		props.RightYAxis = &awscloudwatch.YAxisProps{Min: jsii.Number(0), ShowUnits: jsii.Bool(false)}
	}
	if w.limit > 0 {
		props.LeftAnnotations = &[]*awscloudwatch.HorizontalAnnotation{{Value: &w.limit, Label: jsii.String("alarm"), Color: awscloudwatch.Color_RED()}}
	}
	return awscloudwatch.NewGraphWidget(&props)
}
