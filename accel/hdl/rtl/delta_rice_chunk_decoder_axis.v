// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Chunks of HDF5 filter 32025 in, samples out, with AXI4-Stream interfaces.
//
// A packet of words is a chunk, and its samples are a packet; TUSER bit 0 marks the last sample of
// a segment. A chunk of no samples, N = 0 alone, gives no packet. Where damage is found, the chunk
// ends with a sample that has TLAST and TUSER bit 1. Damage of the layout (lengths, N, the end of
// the packet) ends the current segment, or an empty one, with a word of zeros and the decoder's
// `s_error`.
//
// Rates: see delta_rice_decoder.v. The words N and L take a clock each, and a chunk begins when all
// samples of the one before have been taken.

`default_nettype none

module delta_rice_chunk_decoder_axis #(
    parameter K = 3,                // Rice parameter log2(m), 0 to 15
    parameter K_INPUT = 0,          // 1: the Rice parameter is the input `rice_parameter`, not K
    parameter DELTA = 1             // 1: taps [1, -1]; 0: taps [1]
) (
    input  wire        aclk,
    input  wire        aresetn,             // synchronous, active low
    // These inputs must be constant while a chunk is decoded.
    input  wire [31:0] segment_samples,     // samples per segment, not 0; the last segment of a chunk has the rest
    input  wire [3:0]  rice_parameter,      // unused without K_INPUT
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire [31:0] s_axis_tdata,
    input  wire        s_axis_tlast,        // the last word of a chunk
    output wire        m_axis_tvalid,
    input  wire        m_axis_tready,
    output wire [15:0] m_axis_tdata,
    output wire        m_axis_tlast,        // the last sample of a chunk
    output wire [1:0]  m_axis_tuser         // {damaged, last sample of a segment}
);

    localparam SAMPLES = 3'd0, LENGTH = 3'd1, PAYLOAD = 3'd2, ABORT = 3'd3, SKIP = 3'd4;
    reg [2:0]  state;
    reg [31:0] samples_left;        // samples of the chunk, from this segment on
    reg [31:0] words_left;          // words of the segment that have not come
    reg        packet_ended;        // with ABORT: s_axis_tlast has been seen

    wire        last_segment = samples_left <= segment_samples;
    wire        last_word = words_left == 32'd1;
    wire        ends_well = last_word && s_axis_tlast == last_segment;
    wire        decoder_ready;
    wire        decoder_idle;
    wire        to_decoder = state == PAYLOAD || state == ABORT;
    wire        take = s_axis_tvalid && s_axis_tready;
    assign s_axis_tready = state == SAMPLES ? decoder_idle : state == PAYLOAD ? decoder_ready : state != ABORT;

    always @(posedge aclk) begin
        case (state)
            SAMPLES:
                if (take) begin
                    samples_left <= s_axis_tdata;
                    packet_ended <= s_axis_tlast;
                    if (s_axis_tlast)
                        state <= s_axis_tdata == 32'd0 ? SAMPLES : ABORT;
                    else
                        state <= s_axis_tdata == 32'd0 ? ABORT : LENGTH;
                end
            LENGTH:
                if (take) begin
                    words_left   <= s_axis_tdata;
                    packet_ended <= s_axis_tlast;
                    state        <= s_axis_tdata == 32'd0 || s_axis_tlast ? ABORT : PAYLOAD;
                end
            PAYLOAD:
                if (take) begin
                    words_left   <= words_left - 32'd1;
                    packet_ended <= s_axis_tlast;
                    if (ends_well) begin
                        state        <= last_segment ? SAMPLES : LENGTH;
                        samples_left <= samples_left - segment_samples;
                    end else if (last_word || s_axis_tlast)
                        state <= ABORT;
                end
            ABORT:
                if (decoder_ready)
                    state <= packet_ended ? SAMPLES : SKIP;
            default:
                if (take && s_axis_tlast)
                    state <= SAMPLES;
        endcase
        if (!aresetn)
            state <= SAMPLES;
    end

    wire        sample_valid;
    wire        sample_ready;
    wire        segment_end;
    wire        damaged;
    delta_rice_decoder #(.K(K), .K_INPUT(K_INPUT), .DELTA(DELTA), .SAMPLES_WIDTH(32)) decoder (
        .clk(aclk), .rst(!aresetn),
        .s_valid(to_decoder && (s_axis_tvalid || state == ABORT)), .s_ready(decoder_ready),
        .s_data(state == ABORT ? 32'd0 : s_axis_tdata), .s_last(state == ABORT || ends_well),
        .s_error(state == ABORT),
        .s_samples(last_segment ? samples_left : segment_samples), .s_k(rice_parameter),
        .m_valid(sample_valid), .m_ready(sample_ready), .m_data(m_axis_tdata),
        .m_last(segment_end), .m_error(damaged), .idle(decoder_idle));

    // Samples of the chunk that have not been taken. After damage, later samples are dropped.
    reg [31:0] output_left;
    reg        dropping;
    assign m_axis_tvalid = sample_valid && !dropping;
    assign m_axis_tlast  = damaged || output_left == 32'd1;
    assign m_axis_tuser  = {damaged, segment_end};
    assign sample_ready  = m_axis_tready || dropping;
    always @(posedge aclk)
        if (state == SAMPLES && take) begin
            output_left <= s_axis_tdata;
            dropping    <= 1'b0;
        end else if (m_axis_tvalid && m_axis_tready) begin
            output_left <= output_left - 32'd1;
            dropping    <= damaged;
        end

endmodule

`default_nettype wire
