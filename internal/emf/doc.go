// Package emf makes metrics out of the wide log lines that are written
// anyway: it adds what the Embedded Metric Format of CloudWatch wants to a line,
// and CloudWatch takes the metrics from there. No call is made, and no metric
// is lost that was logged. It knows neither what is measured nor who logs.
//
// A line with metrics has a member _aws, which says which other members of the line
// are metrics and by which of its members, the dimensions, they are told apart:
//
//	{"level":"INFO","message":"delivery.attempted","outcome":"timeout","duration_ms":912,...,
//	 "_aws":{"Timestamp":1772627820000,"CloudWatchMetrics":[
//	   {"Namespace":"Surehook","Dimensions":[["environment"]],"Metrics":[{"Name":"duration_ms","Unit":"Milliseconds"}]},
//	   {"Namespace":"Surehook","Dimensions":[["environment"],["environment","outcome"]],"Metrics":[{"Name":"attempts","Unit":"Count"}]}]},
//	 "environment":"prod","attempts":1}
//
// Every set of dimensions holds for every metric of its directive, and each of
// their values is a metric that is paid for. So a metric with dimensions of its
// own has a directive of its own, and dimensions are values of this package, few by
// their kind: none is a tenant or an endpoint.
//
// The members must be at the root of the line, and the line must be JSON: loggers
// with a group open, or with a text handler, give CloudWatch nothing. A line that the
// logger's level leaves out takes its metrics with it.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
package emf
