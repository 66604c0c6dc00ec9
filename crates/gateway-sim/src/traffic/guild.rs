//! Guilds: their GUILD_CREATE events, and the state that later events refer to.

use super::source::Source;
use super::text::{EMOJI, joined, title, words};
use super::users::{Member, presence};

const FEATURES: &[&str] = &[
    "ANIMATED_ICON",
    "AUTO_MODERATION",
    "BANNER",
    "COMMUNITY",
    "DISCOVERABLE",
    "INVITE_SPLASH",
    "NEWS",
    "PREVIEW_ENABLED",
    "ROLE_ICONS",
    "SOUNDBOARD",
    "THREADS_ENABLED",
    "VANITY_URL",
    "WELCOME_SCREEN_ENABLED",
];

/// Kinds of channels: values of `type` in the protocol.
mod kind {
    pub(super) const TEXT: u8 = 0;
    pub(super) const VOICE: u8 = 2;
    pub(super) const CATEGORY: u8 = 4;
    pub(super) const NEWS: u8 = 5;
    pub(super) const STAGE: u8 = 13;

    /// The kinds from which a guild's channels after the first two are picked at random.
    pub(super) const MIX: &[u8] = &[TEXT, TEXT, TEXT, VOICE, CATEGORY, NEWS, STAGE];
}

/// The part of a channel that events refer to.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    pub(super) id: u64,
    pub(super) kind: u8,
}

/// State of a guild.
pub(super) struct Guild {
    pub(super) id: u64,
    pub(super) members: Vec<Member>,
    channels: Vec<Channel>,
    /// Channels with messages: text and news.
    pub(super) texts: Vec<Channel>,
    /// Channels with voice: voice and stage.
    pub(super) voices: Vec<Channel>,
}

impl Guild {
    /// Generates a guild and its GUILD_CREATE event. `own` is the client's user (id and object), an
    /// inactive member of every guild.
    pub(super) fn create(source: &mut Source, id: u64, own: &(u64, String)) -> (Guild, String) {
        let scale = source.log_normal(0.6, 0.95);
        let mut many =
            |mean: f64, deviation: f64, least| source.around(mean * scale, deviation * scale, least);
        let (roles, channels) = (many(30.0, 12.0, 1), many(45.0, 15.0, 2));
        let (members, emojis) = (many(75.0, 25.0, 2), many(45.0, 25.0, 0));
        let roles: Vec<u64> = (0..roles).map(|_| source.id()).collect();
        let members = (0..members).map(|_| Member::new(source, &roles)).collect();
        let channels: Vec<Channel> = (0..channels)
            .map(|i| Channel {
                id: source.id(),
                kind: match i {
                    0 => kind::TEXT,
                    1 => kind::VOICE,
                    _ => source.pick(kind::MIX),
                },
            })
            .collect();
        let of = |kinds: [u8; 2]| channels.iter().copied().filter(|c| kinds.contains(&c.kind)).collect();
        let guild = Guild {
            id,
            members,
            texts: of([kind::TEXT, kind::NEWS]),
            voices: of([kind::VOICE, kind::STAGE]),
            channels,
        };
        let own = Member::of_user(source, own.0, own.1.clone(), &roles);
        let data = guild.data(source, &own, &roles, emojis);
        let message = source.dispatch("GUILD_CREATE", &data);
        (guild, message)
    }

    fn data(&self, source: &mut Source, own: &Member, roles: &[u64], emojis: usize) -> String {
        // The role of all members (@everyone) has the id of the guild.
        let all = std::iter::once(&self.id).chain(roles).enumerate();
        let described: Vec<String> = all.map(|(i, id)| role(source, i, *id)).collect();
        let categories: Vec<u64> =
            self.channels.iter().filter(|c| c.kind == kind::CATEGORY).map(|c| c.id).collect();
        let channels: Vec<String> = self
            .channels
            .iter()
            .enumerate()
            .map(|(i, one)| channel(source, i, *one, &categories, roles))
            .collect();
        let members: Vec<String> = self.members.iter().chain([own]).map(Member::object).collect();
        let emojis: Vec<String> = (0..emojis).map(|_| emoji(source)).collect();
        // A member is in at most one voice channel.
        let speaking = source.below(6.min(self.members.len() + 1));
        let first = source.below(self.members.len());
        let speakers = self.members.iter().cycle().skip(first).take(speaking);
        let voices: Vec<String> = speakers.map(|member| self.voice(source, member)).collect();
        let mut present = Vec::new();
        for member in &self.members {
            if source.percent(40) {
                present.push(presence(source, member.id, None));
            }
        }
        let mut features: Vec<String> =
            (0..source.below(9)).map(|_| format!(r#""{}""#, source.pick(FEATURES))).collect();
        features.sort_unstable();
        features.dedup();
        format!(
            concat!(
                r#"{{"features":[{features}],"premium_progress_bar_enabled":false,"emojis":[{emojis}],"#,
                r#""member_count":{count},"rules_channel_id":"{rules}","voice_states":[{voices}],"#,
                r#""large":{large},"vanity_url_code":null,"icon":"{icon}","stickers":[],"splash":null,"#,
                r#""system_channel_id":"{rules}","banner":null,"guild_scheduled_events":[],"#,
                r#""max_stage_video_channel_users":50,"id":"{id}","verification_level":1,"#,
                r#""max_members":25000000,"stage_instances":[],"safety_alerts_channel_id":null,"#,
                r#""name":"{name}","preferred_locale":"en-US","max_video_channel_users":25,"#,
                r#""premium_subscription_count":{boosts},"threads":[],"description":null,"mfa_level":0,"#,
                r#""system_channel_flags":0,"afk_timeout":300,"members":[{members}],"premium_tier":{tier},"#,
                r#""discovery_splash":null,"nsfw_level":0,"explicit_content_filter":2,"#,
                r#""public_updates_channel_id":"{rules}","afk_channel_id":null,"unavailable":false,"#,
                r#""channels":[{channels}],"lazy":true,"nsfw":false,"version":{version},"#,
                r#""owner_id":"{owner}","roles":[{roles}],"soundboard_sounds":[],"presences":[{present}],"#,
                r#""default_message_notifications":1,"joined_at":"{joined}","activity_instances":[],"#,
                r#""embedded_activities":[]}}"#
            ),
            features = features.join(","),
            emojis = emojis.join(","),
            count = members.len() * source.between(1, 40),
            rules = self.channels[0].id,
            voices = voices.join(","),
            large = self.members.len() > 50,
            icon = source.hex(),
            id = self.id,
            name = title(source, 1, 5),
            boosts = source.below(30),
            members = members.join(","),
            tier = source.below(4),
            channels = channels.join(","),
            version = source.now(),
            owner = self.members[0].id,
            roles = described.join(","),
            present = present.join(","),
            joined = source.past(),
        )
    }

    fn voice(&self, source: &mut Source, member: &Member) -> String {
        format!(
            concat!(
                r#"{{"user_id":"{user}","suppress":false,"session_id":"{session}","self_video":false,"#,
                r#""self_mute":{mute},"self_deaf":false,"request_to_speak_timestamp":null,"mute":false,"#,
                r#""deaf":false,"channel_id":"{channel}"}}"#
            ),
            user = member.id,
            session = source.hex(),
            mute = source.percent(30),
            channel = source.pick(&self.voices).id,
        )
    }
}

fn role(source: &mut Source, position: usize, id: u64) -> String {
    let color = source.below(1 << 24);
    format!(
        concat!(
            r#"{{"version":{version},"unicode_emoji":null,"tags":{{}},"position":{position},"#,
            r#""permissions":"{permissions}","name":"{name}","mentionable":{mentionable},"#,
            r#""managed":{managed},"id":"{id}","icon":null,"hoist":{hoist},"flags":0,"#,
            r#""colors":{{"tertiary_color":null,"secondary_color":null,"primary_color":{color}}},"color":{color}}}"#
        ),
        version = source.now(),
        position = position,
        permissions =
            source.pick(&["0", "104324673", "1071698660929", "2248473465835073", "6755399441055744"]),
        name = if position == 0 { "@everyone".into() } else { title(source, 1, 4) },
        mentionable = source.percent(30),
        managed = source.percent(10),
        id = id,
        hoist = source.percent(40),
        color = color,
    )
}

/// The channel object; its fields depend on the kind.
fn channel(source: &mut Source, position: usize, one: Channel, categories: &[u64], roles: &[u64]) -> String {
    let rules: Vec<String> =
        (0..source.below(7.min(roles.len() + 1))).map(|_| overwrite(source, roles)).collect();
    let parent = match one.kind {
        kind::CATEGORY => None,
        _ if categories.is_empty() || !source.percent(90) => None,
        _ => Some(source.pick(categories)),
    };
    let more = match one.kind {
        kind::CATEGORY => String::new(),
        kind::VOICE | kind::STAGE => voice_fields(source, one.kind),
        _ => text_fields(source),
    };
    format!(
        concat!(
            r#"{{"version":{version},"type":{kind},{more}"position":{position},"#,
            r#""permission_overwrites":[{rules}],"parent_id":{parent},"name":"{name}","id":"{id}","flags":0}}"#
        ),
        version = source.now(),
        kind = one.kind,
        more = more,
        position = position,
        rules = rules.join(","),
        parent = parent.map_or_else(|| "null".into(), |id| format!(r#""{id}""#)),
        name = joined(source, 1, 4, "-"),
        id = one.id,
    )
}

/// Fields of a text or news channel.
fn text_fields(source: &mut Source) -> String {
    format!(
        concat!(
            r#""topic":{topic},"theme_color":null,"rate_limit_per_user":{rate},"nsfw":false,"#,
            r#""last_message_id":"{last}","icon_emoji":{{"name":"{icon}","id":null}},"#
        ),
        topic = if source.percent(40) { format!(r#""{}""#, words(source, 3, 20)) } else { "null".into() },
        rate = source.pick(&[0, 0, 0, 5, 10]),
        last = source.id(),
        icon = source.pick(EMOJI),
    )
}

/// Fields of a voice or stage channel.
fn voice_fields(source: &mut Source, kind: u8) -> String {
    format!(
        concat!(
            r#"{topic}"bitrate":{bitrate},"user_limit":{limit},"rtc_region":null,"rate_limit_per_user":0,"#,
            r#""nsfw":false,"last_message_id":null,"icon_emoji":{{"name":"{icon}","id":null}},"#
        ),
        topic = if kind == kind::STAGE { r#""topic":null,"# } else { "" },
        bitrate = source.pick(&[64_000, 64_000, 64_000, 96_000]),
        limit = source.pick(&[0, 0, 0, 5, 10, 99]),
        icon = source.pick(EMOJI),
    )
}

fn overwrite(source: &mut Source, roles: &[u64]) -> String {
    format!(
        r#"{{"type":0,"id":"{}","deny":"{}","allow":"{}"}}"#,
        source.pick(roles),
        source.pick(&["0", "1024", "2048", "1049600"]),
        source.pick(&["0", "1024", "68608", "377957190656"]),
    )
}

fn emoji(source: &mut Source) -> String {
    format!(
        concat!(
            r#"{{"version":0,"roles":[],"require_colons":true,"name":"{name}","managed":false,"id":"{id}","#,
            r#""available":true,"animated":{animated}}}"#
        ),
        name = joined(source, 2, 3, "_"),
        id = source.id(),
        animated = source.percent(30),
    )
}
