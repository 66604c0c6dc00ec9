// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The modules under test: chunk encoder, chunk decoder and segment encoder, each for both taps,
// which `delta` selects. They share only clock, reset and configuration.

`default_nettype none

module bench_top #(
    parameter ADDRESS_WIDTH = 13
) (
    input  wire        aclk,
    input  wire        aresetn,
    input  wire        delta,
    input  wire [3:0]  k,
    input  wire [31:0] chunk_samples,
    input  wire [31:0] segment_samples,
    output wire        configuration_error,
    // The chunk encoder: samples in, chunks out.
    input  wire        encode_s_tvalid,
    output wire        encode_s_tready,
    input  wire [15:0] encode_s_tdata,
    output wire        encode_m_tvalid,
    input  wire        encode_m_tready,
    output wire [31:0] encode_m_tdata,
    output wire        encode_m_tlast,
    // The chunk decoder: chunks in, samples out.
    input  wire        decode_s_tvalid,
    output wire        decode_s_tready,
    input  wire [31:0] decode_s_tdata,
    input  wire        decode_s_tlast,
    output wire        decode_m_tvalid,
    input  wire        decode_m_tready,
    output wire [15:0] decode_m_tdata,
    output wire        decode_m_tlast,
    output wire [1:0]  decode_m_tuser,
    // The segment encoder: samples of segments in, payloads out.
    input  wire        segment_s_tvalid,
    output wire        segment_s_tready,
    input  wire [15:0] segment_s_tdata,
    input  wire        segment_s_tlast,
    output wire        segment_m_tvalid,
    input  wire        segment_m_tready,
    output wire [31:0] segment_m_tdata,
    output wire        segment_m_tlast,
    output wire [19:0] segment_m_tuser
);

    wire [1:0]  error;
    wire [1:0]  encode_ready, encode_valid, encode_last;
    wire [1:0]  decode_ready, decode_valid, decode_last;
    wire [1:0]  segment_ready, segment_valid, segment_last;
    wire [31:0] encode_data [0:1];
    wire [15:0] decode_data [0:1];
    wire [1:0]  decode_user [0:1];
    wire [31:0] segment_data [0:1];
    wire [19:0] segment_user [0:1];

    genvar d;
    generate
        for (d = 0; d < 2; d = d + 1) begin : g_taps
            delta_rice_chunk_encoder_axis #(.K_INPUT(1), .DELTA(d), .ADDRESS_WIDTH(ADDRESS_WIDTH)) chunk_encoder (
                .aclk(aclk), .aresetn(aresetn), .chunk_samples(chunk_samples), .segment_samples(segment_samples),
                .rice_parameter(k), .configuration_error(error[d]),
                .s_axis_tvalid(encode_s_tvalid && delta == d), .s_axis_tready(encode_ready[d]),
                .s_axis_tdata(encode_s_tdata),
                .m_axis_tvalid(encode_valid[d]), .m_axis_tready(encode_m_tready),
                .m_axis_tdata(encode_data[d]), .m_axis_tlast(encode_last[d]));
            delta_rice_chunk_decoder_axis #(.K_INPUT(1), .DELTA(d)) chunk_decoder (
                .aclk(aclk), .aresetn(aresetn), .segment_samples(segment_samples), .rice_parameter(k),
                .s_axis_tvalid(decode_s_tvalid && delta == d), .s_axis_tready(decode_ready[d]),
                .s_axis_tdata(decode_s_tdata), .s_axis_tlast(decode_s_tlast),
                .m_axis_tvalid(decode_valid[d]), .m_axis_tready(decode_m_tready),
                .m_axis_tdata(decode_data[d]), .m_axis_tlast(decode_last[d]), .m_axis_tuser(decode_user[d]));
            delta_rice_encoder_axis #(.K_INPUT(1), .DELTA(d)) segment_encoder (
                .aclk(aclk), .aresetn(aresetn),
                .s_axis_tvalid(segment_s_tvalid && delta == d), .s_axis_tready(segment_ready[d]),
                .s_axis_tdata(segment_s_tdata), .s_axis_tlast(segment_s_tlast), .s_axis_tuser(k),
                .m_axis_tvalid(segment_valid[d]), .m_axis_tready(segment_m_tready),
                .m_axis_tdata(segment_data[d]), .m_axis_tlast(segment_last[d]), .m_axis_tuser(segment_user[d]));
        end
    endgenerate

    assign configuration_error = error[delta];
    assign encode_s_tready  = encode_ready[delta];
    assign encode_m_tvalid  = encode_valid[delta];
    assign encode_m_tdata   = encode_data[delta];
    assign encode_m_tlast   = encode_last[delta];
    assign decode_s_tready  = decode_ready[delta];
    assign decode_m_tvalid  = decode_valid[delta];
    assign decode_m_tdata   = decode_data[delta];
    assign decode_m_tlast   = decode_last[delta];
    assign decode_m_tuser   = decode_user[delta];
    assign segment_s_tready = segment_ready[delta];
    assign segment_m_tvalid = segment_valid[delta];
    assign segment_m_tdata  = segment_data[delta];
    assign segment_m_tlast  = segment_last[delta];
    assign segment_m_tuser  = segment_user[delta];

endmodule

`default_nettype wire
